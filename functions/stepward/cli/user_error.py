"""What a command tells its user instead of doing what was asked."""

from __future__ import annotations

from stepward.domain.errors import StepwardError


class UserError(StepwardError):
    """What was asked cannot be done; the message says what to do instead."""
