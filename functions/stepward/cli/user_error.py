"""The error that a command reports to its user."""

from __future__ import annotations

from stepward.domain.errors import StepwardError


class UserError(StepwardError):
    """The command cannot be done; the message says why, and what to do instead."""
