"""What Lambda tells a function beside the event."""

from __future__ import annotations

from typing import Protocol


class Context(Protocol):
    """The part of Lambda's context that the functions ask for."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation is ended."""
