"""The Supervisor's check of queues, for dead letters and for messages that hold others up, where no alarm sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stepward.app.supervisor.supervise import Check
from stepward.domain.errors import StepwardError, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Alert
from stepward.ports import Alerts, Telemetry

EVERY = 100_000
"""Milliseconds: every second run of a Supervisor that is woken each minute. An alarm looks at five minutes."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A queue with the kind of trouble that `most` messages in it mean, by `count`, which may raise StepwardError."""

    queue: str
    kind: HistoryKind
    most: int
    count: Callable[[], int]


@dataclass(slots=True)
class QueueCheck:
    """Counts what is in each of `queues`; they belong to the first shard, so that one Supervisor does.

    It goes first, since a sweep that runs out of time makes no further check, and gives up at the first call that fails
    for now. What cannot be counted is told, because nobody else would see it.
    """

    queues: Sequence[Counted]
    telemetry: Telemetry
    now: Callable[[], int]
    checked_at: int = 0

    def due(self, shard: int) -> Iterator[str]:
        """Counts, unless this process has a moment ago; it is no order's record, so nothing remains to be checked."""
        if shard == 0 and self.queues and self.now() - self.checked_at >= EVERY:
            self.checked_at = self.now()
            self._count()
        return iter(())

    def check(self, _alerts: Alerts) -> Check:
        """Nothing is due."""
        return lambda _order_id: ()

    def confirm(self, alert: Alert) -> None:
        """No alert comes from here."""

    def _count(self) -> None:
        for each in self.queues:
            try:
                count = each.count()
            except StepwardError as error:
                self._record(HistoryKind.UNCHECKED, f"{each.queue}: {error}")
                if isinstance(error, Transient):
                    return  # the others would take as long, and recovery waits
            else:
                if count >= each.most:
                    self._record(each.kind, f"{each.queue}: {count}")

    def _record(self, kind: HistoryKind, note: str) -> None:
        self.telemetry.record("", HistoryEntry(self.now(), kind, note=note))
