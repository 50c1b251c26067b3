"""Answers a schedule, and ignores the content of its event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.supervisor.supervise import Supervise


@dataclass(frozen=True, slots=True)
class SweepWorker:
    """Sweeps the due indexes once for each event."""

    supervise: Supervise
    telemetry: PowertoolsTelemetry

    def answer(self, _event: Mapping[str, Any], remaining: Callable[[], int]) -> dict[str, int]:
        """Sweep, with `remaining` milliseconds to the end of the invocation; what was found, in numbers."""
        try:
            return asdict(self.supervise.sweep(remaining))
        finally:
            self.telemetry.flush()
