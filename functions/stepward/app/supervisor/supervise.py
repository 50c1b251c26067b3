"""The Supervisor: finds what is overdue and requests its recovery; the Scheduler and the Agents act."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol
from zlib import crc32

from stepward.app.alerting import Collected, Throttled, alert_all
from stepward.app.supervisor.leases import Hold, Leases
from stepward.domain.coordination.shards import others
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected, StepwardError, Transient
from stepward.domain.health import Swept
from stepward.domain.history import OVERDUE, HistoryEntry, HistoryKind, trouble
from stepward.domain.messages import Alert
from stepward.ports import Alerts

MOST_PER_RUN = 60_000
TIME_TO_FINISH = 5_000
TIME_PER_ALERT = 25
"""Milliseconds to confirm one alert."""
TIME_FOR_OTHERS = 20_000
"""Milliseconds that must remain to look into a shard of another deployment."""

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Does something with each of many, and takes no more of them than it is at work on; like `map`, or side by side."""
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
    turns and without a lease, since they are almost always empty. `shard_by_shard` goes through the shards,
    `one_by_one` through what is due in one of them.
    """

    sweeps: Sequence[Sweep]
    leases: Leases
    alerts: Throttled
    shards: int
    most_shards: int
    shard_by_shard: Each = map
    one_by_one: Each = map

    def sweep(self, remaining: Callable[[], int]) -> Swept:
        """One run, which ends in time for `remaining` (milliseconds) to stay above zero.

        What it does not reach stays due, so the next run finds it. A record that is corrupt, or that others keep
        changing, does not keep it from the rest.
        """
        run = _Run(self.sweeps, self.leases, remaining, self.one_by_one)
        for _ in self.shard_by_shard(run.sweep, self._in_turn()):
            pass
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
    one_by_one: Each
    figures: Swept = field(default_factory=Swept)
    is_over: bool = False
    alerts: Collected = field(default_factory=Collected)
    checks: Sequence[Check] = field(init=False)
    lock: Lock = field(default_factory=Lock)
    """Held while the figures change."""

    def __post_init__(self) -> None:
        self.checks = [sweep.check(self.alerts) for sweep in self.sweeps]

    def sweep(self, shard: int) -> None:
        """Check all that is due in a shard of this deployment, if nobody else does, and count the shard."""
        if self.is_over:
            return
        complete = None
        if hold := self.leases.take(shard):
            complete = self.check_all(shard, hold)
            self.leases.give_back(shard, hold)
        with self.lock:
            now = self.figures
            if complete is None:
                self.figures = replace(now, skipped=now.skipped + 1)
            else:
                self.figures = replace(now, complete=now.complete and complete, swept=now.swept + complete)

    def check_all(self, shard: int, hold: Hold) -> bool:
        """Check all that is due in the shard, for as long as the lease lasts; False if some of it remains."""
        sweeps = zip(self.sweeps, self.checks, strict=True)
        return all(self._check_all(sweep, shard, check, hold) for sweep, check in sweeps)

    def _check_all(self, sweep: Sweep, shard: int, check: Check, hold: Hold) -> bool:
        """Check each that is due; False if there was no time for all, or they could not be listed."""
        left: list[int] = []
        for history in self.one_by_one(
            lambda order_id: self._checked(order_id, check), self._due(sweep, shard, hold, left)
        ):
            self._count(history)
        return not left

    def _due(self, sweep: Sweep, shard: int, hold: Hold, left: list[int]) -> Iterator[str]:
        """Each that is due, for as long as there is time; the shard is `left` if that is not for all."""
        try:
            for order_id in sweep.due(shard):
                self.is_over = self.is_over or self._must_end()
                if self.is_over or self.leases.now() >= hold.until:
                    left.append(shard)
                    return
                yield order_id
        except Transient as error:
            self._log("", HistoryKind.POSTPONED, error)
            left.append(shard)

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
        with self.lock:
            self.figures = replace(
                self.figures,
                listed=self.figures.listed + 1,
                overdue=self.figures.overdue + len(overdue),
                oldest=max([self.figures.oldest, *overdue]),
            )
