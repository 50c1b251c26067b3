"""Supervision: find what is overdue and request its recovery; the Scheduler and the Agents act."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from zlib import crc32

from stepward.app.alerting import Collected, tell_all
from stepward.app.lane_patrol import LanePatrol
from stepward.app.leasing import Hold, Leases
from stepward.app.transition import Transition
from stepward.app.watching import Watch
from stepward.domain.decide import Told
from stepward.domain.errors import Rejected, StepwardError, Transient, Unreadable
from stepward.domain.facts import OVERDUE, Fact, FactKind
from stepward.domain.health import Swept
from stepward.domain.looking import Look
from stepward.domain.messages import Alert

MOST_PER_RUN = 5_000
TIME_TO_FINISH = 5_000
TIME_PER_ALERT = 25
"""Milliseconds to note that one alert is out."""


@dataclass(frozen=True, slots=True)
class Supervise:
    """Looks at every task whose due time has passed, in those of all `shards` of the index that it gets a lease for.

    With a `patrol` it looks at the lanes of the same shards, too.
    """

    transition: Transition
    leases: Leases
    watch: Watch
    shards: int
    patrol: LanePatrol | None = None

    def sweep(self, remaining: Callable[[], int]) -> Swept:
        """One run, which ends in time for `remaining` (milliseconds) to stay above zero.

        What it does not reach stays due, so the next run finds it. Nothing that cannot be read, and no record that
        others keep changing, keeps the sweep from the rest.
        """
        run = _Run(self.transition, self.watch, remaining, self.patrol)
        for shard in self._in_turn():
            if run.is_over:
                break
            if hold := self.leases.take(shard):
                run.sweep(shard, hold)
                self.leases.give_back(shard, hold)
            else:
                run.figures = replace(run.figures, skipped=run.figures.skipped + 1)
        self.transition.telemetry.swept(run.figures)
        run.tell_operators()
        return run.figures

    def _in_turn(self) -> Iterator[int]:
        """All shards; none is always last, and Supervisors that are woken together begin at different ones."""
        first = self.transition.now() // 60_000 + crc32(self.leases.holder.encode())
        yield from ((first + offset) % self.shards for offset in range(self.shards))


@dataclass(slots=True)
class _Run:
    """One run: what it found so far, and the alerts that it will tell when all else is done."""

    transition: Transition
    watch: Watch
    remaining: Callable[[], int]
    patrol: LanePatrol | None
    figures: Swept = field(default_factory=Swept)
    is_over: bool = False
    alerts: Collected = field(default_factory=Collected)
    look: Look | None = None

    def sweep(self, shard: int, hold: Hold) -> None:
        """Look at all that is due in the shard, for as long as the lease lasts."""
        whole = self._go_through(lambda: self.transition.store.due(shard, self._seen()), self._look, hold)
        if whole and (patrol := self.patrol):
            whole = self._go_through(
                lambda: patrol.due(shard), lambda order_id: self._look_at_lane(patrol, order_id), hold
            )
        figures = self.figures
        self.figures = replace(figures, complete=figures.complete and whole, swept=figures.swept + whole)

    def _go_through(
        self, due: Callable[[], Iterator[str]], look: Callable[[str], tuple[Fact, ...]], hold: Hold
    ) -> bool:
        """Look at each that is due; False if there was no time for all, or they could not be listed."""
        try:
            for order_id in due():
                self.is_over = self._must_end()
                if self.is_over or self.transition.now() >= hold.until:
                    return False
                self._count(look(order_id))
        except Transient as error:
            self._tell("", FactKind.POSTPONED, error)
            return False
        return True

    def tell_operators(self) -> None:
        """Tell the alerts that have come together; those that do not get out stay due."""
        try:
            tell_all(self.alerts.due, self.transition.alerts, self._told)
        except Transient as error:
            self._tell("", FactKind.POSTPONED, error)

    def _seen(self) -> int:
        return self.transition.now() - self.transition.timing.skew_margin

    def _must_end(self) -> bool:
        time_to_finish = TIME_TO_FINISH + TIME_PER_ALERT * len(self.alerts.due)
        return self.figures.listed >= MOST_PER_RUN or self.remaining() < time_to_finish

    def _look(self, order_id: str) -> tuple[Fact, ...]:
        self.look = self.look or self.watch.look(self._backlogged(), self.transition.now())
        try:
            return replace(self.transition, alerts=self.alerts).apply(order_id, self.look)
        except (Transient, Rejected, Unreadable) as error:
            kind = FactKind.UNREADABLE if isinstance(error, Unreadable) else FactKind.POSTPONED
            return (self._tell(order_id, kind, error),)

    def _look_at_lane(self, patrol: LanePatrol, order_id: str) -> tuple[Fact, ...]:
        try:
            patrol.look(order_id, self.alerts)
        except (Transient, Rejected, Unreadable) as error:
            kind = FactKind.UNREADABLE if isinstance(error, Unreadable) else FactKind.POSTPONED
            self._tell(order_id, kind, error)
        return ()

    def _backlogged(self) -> frozenset[str]:
        """The agents with a backlog; if that cannot be told, recovery goes on and excuses nobody."""
        try:
            return self.transition.queues.backlogged()
        except Transient as error:
            self._tell("", FactKind.POSTPONED, error)
            return frozenset()

    def _told(self, alert: Alert) -> None:
        try:
            if alert.trouble and self.patrol:
                self.patrol.told(alert)
            else:
                self.transition.apply(alert.order_id, Told(alert.step, alert.attempt))
        except (Transient, Rejected, Unreadable) as error:
            self._tell(alert.order_id, FactKind.POSTPONED, error)

    def _tell(self, order_id: str, kind: FactKind, error: StepwardError) -> Fact:
        fact = Fact(self.transition.now(), kind, note=str(error))
        self.transition.telemetry.record(order_id, fact)
        return fact

    def _count(self, facts: tuple[Fact, ...]) -> None:
        overdue = [fact.value for fact in facts if fact.kind in OVERDUE]
        self.figures = replace(
            self.figures,
            listed=self.figures.listed + 1,
            overdue=self.figures.overdue + len(overdue),
            oldest=max([self.figures.oldest, *overdue]),
        )
