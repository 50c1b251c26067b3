"""The Supervisor: finds what is overdue and requests its recovery; the Scheduler and the Agents act."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from zlib import crc32

from stepward.app.alerting import Collected, Throttled, alert_all
from stepward.app.supervisor.leases import Hold, Leases
from stepward.domain.coordination.shards import others
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected, StepwardError, Transient
from stepward.domain.health import Swept
from stepward.domain.history import OVERDUE, HistoryEntry, HistoryKind, trouble
from stepward.domain.messages import Alert
from stepward.ports import Alerts

MOST_PER_RUN = 5_000
TIME_TO_FINISH = 5_000
TIME_PER_ALERT = 25
"""Milliseconds to confirm one alert."""
TIME_FOR_OTHERS = 20_000
"""Milliseconds that must remain to look into a shard of another deployment."""

Check = Callable[[str], Sequence[HistoryEntry]]
"""Checks the record of one order, and acts on what is overdue there; raises Transient, Rejected or Corrupt."""


class Sweep(Protocol):
    """One kind of record that waits in a due index, and what the Supervisor does about it."""

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose record is due; raises Transient."""

    def check(self, alerts: Alerts) -> Check:
        """What checks each of them in one run, and sends alerts to `alerts`."""

    def confirm(self, alert: Alert) -> None:
        """Note that the alert is out, if it is of this kind; raises Transient, Rejected or Corrupt."""


@dataclass(frozen=True, slots=True)
class Supervise:
    """Runs all `sweeps` in each of the `shards` that it gets a lease for, then sends the alerts by `alerts`.

    Work may also wait in shards up to `most_shards`: a deployment with more shards left it there. These are swept by
    turns and without a lease, since they are almost always empty.
    """

    sweeps: Sequence[Sweep]
    leases: Leases
    alerts: Throttled
    shards: int
    most_shards: int

    def sweep(self, remaining: Callable[[], int]) -> Swept:
        """One run, which ends in time for `remaining` (milliseconds) to stay above zero.

        What it does not reach stays due, so the next run finds it. A record that is corrupt, or that others keep
        changing, does not keep it from the rest.
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
        for shard in others(self.leases.now() // 60_000, self.shards, self.most_shards):
            if not run.is_over and remaining() > TIME_FOR_OTHERS:
                run.check_all(shard, Hold(self.leases.now() + self.leases.length))
        self.leases.telemetry.swept(run.figures)
        run.send(self.alerts)
        return run.figures

    def _in_turn(self) -> Iterator[int]:
        """All shards; none is always last, and Supervisors that are woken together begin at different ones."""
        first = self.leases.now() // 60_000 + crc32(self.leases.holder.encode())
        yield from ((first + offset) % self.shards for offset in range(self.shards))


@dataclass(slots=True)
class _Run:
    """One run: what it found so far, and the alerts that it sends when all else is done."""

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
        """Check all that is due in a shard of this deployment, and count the shard."""
        complete = self.check_all(shard, hold)
        figures = self.figures
        self.figures = replace(figures, complete=figures.complete and complete, swept=figures.swept + complete)

    def check_all(self, shard: int, hold: Hold) -> bool:
        """Check all that is due in the shard, for as long as the lease lasts; False if some of it remains."""
        sweeps = zip(self.sweeps, self.checks, strict=True)
        return all(self._check_all(sweep, shard, check, hold) for sweep, check in sweeps)

    def _check_all(self, sweep: Sweep, shard: int, check: Check, hold: Hold) -> bool:
        """Check each that is due; False if there was no time for all, or they could not be listed."""
        try:
            for order_id in sweep.due(shard):
                self.is_over = self._must_end()
                if self.is_over or self.leases.now() >= hold.until:
                    return False
                self._count(self._checked(order_id, check))
        except Transient as error:
            self._log("", HistoryKind.POSTPONED, error)
            return False
        return True

    def send(self, alerts: Throttled) -> None:
        """Send the collected alerts; those that do not get out stay due."""
        try:
            alert_all(self.alerts.due, alerts, self._confirm)
        except Transient as error:
            self._log("", HistoryKind.POSTPONED, error)

    def _must_end(self) -> bool:
        time_to_finish = TIME_TO_FINISH + TIME_PER_ALERT * len(self.alerts.due)
        return self.figures.listed >= MOST_PER_RUN or self.remaining() < time_to_finish

    def _checked(self, order_id: str, check: Check) -> Sequence[HistoryEntry]:
        try:
            return check(order_id)
        except (Transient, Rejected, Corrupt) as error:
            self._log(order_id, trouble(error), error)
            return ()

    def _confirm(self, alert: Alert) -> None:
        try:
            for sweep in self.sweeps:
                sweep.confirm(alert)
        except (Transient, Rejected, Corrupt) as error:
            self._log(alert.order_id, HistoryKind.POSTPONED, error)

    def _log(self, order_id: str, kind: HistoryKind, error: StepwardError) -> None:
        now, since = self.leases.now(), error.since if isinstance(error, NotUnderstood) else None
        value = 0 if since is None else max(0, now - since)
        self.leases.telemetry.record(order_id, HistoryEntry(now, kind, note=str(error), value=value))

    def _count(self, history: Sequence[HistoryEntry]) -> None:
        overdue = [entry.value for entry in history if OVERDUE in entry.kind.marks]
        self.figures = replace(
            self.figures,
            listed=self.figures.listed + 1,
            overdue=self.figures.overdue + len(overdue),
            oldest=max([self.figures.oldest, *overdue]),
        )
