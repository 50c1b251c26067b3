"""The Lambda function that finds what is overdue; a schedule wakes it, and what it is told is ignored."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from stepward.adapters.lambda_context import Context
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.supervision import Supervise
from stepward.wiring.supervisor import supervisor


@cache
def _supervise() -> tuple[Supervise, PowertoolsTelemetry]:
    return supervisor(os.environ)


def handler(_event: Mapping[str, Any], context: Context) -> dict[str, int]:
    """Sweep the due index once; what was found, in numbers."""
    supervise, telemetry = _supervise()
    try:
        return asdict(supervise.sweep(context.get_remaining_time_in_millis))
    finally:
        telemetry.flush()
