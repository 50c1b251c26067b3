"""Alerts to operators: single ones up to the alert limit, then one summary."""

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
    """`ports.Alerts` under the alert limit; what it holds back stays due, for a summary."""

    alerts: Alerts
    shared_records: SharedRecords
    now: Callable[[], int]

    def send(self, alert: Alert) -> bool:
        """Send it unless that exceeds the alert limit; see the port."""
        return self._admit() and self.alerts.send(alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send all in one message; see the port."""
        self.alerts.summarise(alerts)

    def _admit(self) -> bool:
        """Count one more in the shared record; an alert that cannot be counted is held back."""
        record = SharedValue(self.shared_records, "alerts", _times, lambda times: {"times": list(times)})
        try:
            before, after = record.change(lambda times: admitted(times, self.now()) or times, TRIES)
        except StepwardError:
            return False
        return after != before


@dataclass(frozen=True, slots=True)
class Collected:
    """`ports.Alerts` that collects alerts for the end of a run."""

    due: list[Alert] = field(default_factory=list)

    def send(self, alert: Alert) -> bool:
        """Collect it."""
        self.due.append(alert)
        return False

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Collect them."""
        self.due.extend(alerts)


def alert_all(due: Sequence[Alert], alerts: Alerts, confirm: Callable[[Alert], None]) -> None:
    """Send each alert while the limit allows, the rest in one summary, and `confirm` each that is out.

    A process that dies in between sends again what it did not confirm.
    """
    for sent, alert in enumerate(due):
        if not alerts.send(alert):
            alerts.summarise(due[sent:])
            for summarised in due[sent:]:
                confirm(summarised)
            return
        confirm(alert)


def _times(shared_record: SharedRecord | None) -> tuple[int, ...]:
    times = shared_record.body.get("times") if shared_record else None
    return tuple(time for time in times if isinstance(time, int)) if isinstance(times, list | tuple) else ()
