"""Supervision: find what is overdue and request its recovery; the Scheduler and the Agents act."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from zlib import crc32

from stepward.app.alerting import Collected, tell_all
from stepward.app.supervisor.leases import Hold, Leases
from stepward.domain.errors import Corrupt, Rejected, StepwardError, Transient
from stepward.domain.health import Swept
from stepward.domain.history import OVERDUE, HistoryEntry, HistoryKind
from stepward.domain.messages import Alert
from stepward.ports import Alerts

MOST_PER_RUN = 5_000
TIME_TO_FINISH = 5_000
TIME_PER_ALERT = 25
"""Milliseconds to note that one alert is out."""


Check = Callable[[str], Sequence[HistoryEntry]]
"""Looks at the record of one order, and acts on what is overdue there; raises Transient, Rejected or Unreadable."""


class Sweep(Protocol):
    """One kind of record that waits in a due index, and what the Supervisor does about it."""

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose record is due; raises Transient."""

    def check(self, alerts: Alerts) -> Check:
        """What looks at each of them in one run, and brings what an operator has to hear to `alerts`."""

    def told(self, alert: Alert) -> None:
        """Note that the alert is out, if it is one of this kind; raises Transient, Rejected or Unreadable."""


@dataclass(frozen=True, slots=True)
class Supervise:
    """Does all `sweeps` in those of all `shards` of the indexes that it gets a lease for; then it tells by `alerts`."""

    sweeps: Sequence[Sweep]
    leases: Leases
    alerts: Alerts
    shards: int

    def sweep(self, remaining: Callable[[], int]) -> Swept:
        """One run, which ends in time for `remaining` (milliseconds) to stay above zero.

        What it does not reach stays due, so the next run finds it. Nothing that cannot be read, and no record that
        others keep changing, keeps the sweep from the rest.
        """
        run = _Run(self.sweeps, self.leases, remaining)
        for shard in self._in_turn():
            if run.is_over:
                break
            if hold := self.leases.take(shard):
                run.sweep(shard, hold)
                self.leases.give_back(shard, hold)
            else:
                run.figures = replace(run.figures, skipped=run.figures.skipped + 1)
        self.leases.telemetry.swept(run.figures)
        run.tell_operators(self.alerts)
        return run.figures

    def _in_turn(self) -> Iterator[int]:
        """All shards; none is always last, and Supervisors that are woken together begin at different ones."""
        first = self.leases.now() // 60_000 + crc32(self.leases.holder.encode())
        yield from ((first + offset) % self.shards for offset in range(self.shards))


@dataclass(slots=True)
class _Run:
    """One run: what it found so far, and the alerts that it will tell when all else is done."""

    sweeps: Sequence[Sweep]
    leases: Leases
    remaining: Callable[[], int]
    figures: Swept = field(default_factory=Swept)
    is_over: bool = False
    alerts: Collected = field(default_factory=Collected)
    checks: Sequence[Check] = field(init=False)

    def __post_init__(self) -> None:
        self.checks = [sweep.check(self.alerts) for sweep in self.sweeps]

    def sweep(self, shard: int, hold: Hold) -> None:
        """Look at all that is due in the shard, for as long as the lease lasts."""
        sweeps = zip(self.sweeps, self.checks, strict=True)
        whole = all(self._go_through(sweep, shard, check, hold) for sweep, check in sweeps)
        figures = self.figures
        self.figures = replace(figures, complete=figures.complete and whole, swept=figures.swept + whole)

    def _go_through(self, sweep: Sweep, shard: int, check: Check, hold: Hold) -> bool:
        """Look at each that is due; False if there was no time for all, or they could not be listed."""
        try:
            for order_id in sweep.due(shard):
                self.is_over = self._must_end()
                if self.is_over or self.leases.now() >= hold.until:
                    return False
                self._count(self._checked(order_id, check))
        except Transient as error:
            self._tell("", HistoryKind.POSTPONED, error)
            return False
        return True

    def tell_operators(self, alerts: Alerts) -> None:
        """Tell the alerts that have come together; those that do not get out stay due."""
        try:
            tell_all(self.alerts.due, alerts, self._told)
        except Transient as error:
            self._tell("", HistoryKind.POSTPONED, error)

    def _must_end(self) -> bool:
        time_to_finish = TIME_TO_FINISH + TIME_PER_ALERT * len(self.alerts.due)
        return self.figures.listed >= MOST_PER_RUN or self.remaining() < time_to_finish

    def _checked(self, order_id: str, check: Check) -> Sequence[HistoryEntry]:
        try:
            return check(order_id)
        except (Transient, Rejected, Corrupt) as error:
            kind = HistoryKind.CORRUPT if isinstance(error, Corrupt) else HistoryKind.POSTPONED
            self._tell(order_id, kind, error)
            return ()

    def _told(self, alert: Alert) -> None:
        try:
            for sweep in self.sweeps:
                sweep.told(alert)
        except (Transient, Rejected, Corrupt) as error:
            self._tell(alert.order_id, HistoryKind.POSTPONED, error)

    def _tell(self, order_id: str, kind: HistoryKind, error: StepwardError) -> None:
        self.leases.telemetry.record(order_id, HistoryEntry(self.leases.now(), kind, note=str(error)))

    def _count(self, history: Sequence[HistoryEntry]) -> None:
        overdue = [entry.value for entry in history if OVERDUE in entry.kind.marks]
        self.figures = replace(
            self.figures,
            listed=self.figures.listed + 1,
            overdue=self.figures.overdue + len(overdue),
            oldest=max([self.figures.oldest, *overdue]),
        )
