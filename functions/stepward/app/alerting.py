"""Telling operators: one by one while they can follow, in one summary when they cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.alert_limit import admitted
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import StepwardError
from stepward.domain.messages import Alert
from stepward.ports import Alerts, SharedRecords

TRIES = 3


@dataclass(frozen=True, slots=True)
class Throttled:
    """`ports.Alerts` that lets only so many single alerts out; what it holds back stays due, for a summary."""

    alerts: Alerts
    shared_records: SharedRecords
    now: Callable[[], int]

    def tell(self, alert: Alert) -> bool:
        """Tell it, unless the deployment has told too many of late; see the port."""
        return self._admit() and self.alerts.tell(alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Tell all in one message; see the port."""
        self.alerts.summarise(alerts)

    def _admit(self) -> bool:
        """Count one more, in the record that all instances share; nothing is let out uncounted."""
        record = SharedValue(self.shared_records, "alerts", _times, lambda times: {"times": list(times)})
        try:
            before, after = record.change(lambda times: admitted(times, self.now()) or times, TRIES)
        except StepwardError:
            return False
        return after != before


@dataclass(frozen=True, slots=True)
class Collected:
    """`ports.Alerts` that tells nobody yet."""

    due: list[Alert] = field(default_factory=list)

    def tell(self, alert: Alert) -> bool:
        """Keep it."""
        self.due.append(alert)
        return False

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Keep them."""
        self.due.extend(alerts)


def tell_all(due: Sequence[Alert], alerts: Alerts, told: Callable[[Alert], None]) -> None:
    """Tell each while that is allowed and the rest in one summary, and note with `told` what is out.

    Whoever dies in between repeats what was not noted.
    """
    for position, alert in enumerate(due):
        if not alerts.tell(alert):
            alerts.summarise(due[position:])
            for summarised in due[position:]:
                told(summarised)
            return
        told(alert)


def _times(shared_record: SharedRecord | None) -> tuple[int, ...]:
    times = shared_record.body.get("times") if shared_record else None
    return tuple(time for time in times if isinstance(time, int)) if isinstance(times, list | tuple) else ()
