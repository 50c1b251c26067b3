"""The Lambda function that finds what is overdue; a schedule wakes it, and what it is told is ignored."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Protocol

from stepward import wiring
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.supervision import Supervise


class Context(Protocol):
    """What Lambda tells a function of its invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation is ended."""


@cache
def _supervise() -> tuple[Supervise, PowertoolsTelemetry]:
    return wiring.supervisor(os.environ)


def handler(_event: Mapping[str, Any], context: Context) -> dict[str, int]:
    """Sweep the due index once; what was found, in numbers."""
    supervise, telemetry = _supervise()
    try:
        return asdict(supervise.sweep(context.get_remaining_time_in_millis))
    finally:
        telemetry.flush()
