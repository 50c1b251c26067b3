"""Supervision: find what is overdue and request its recovery; the Scheduler and the Agents act."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from stepward.app.transition import Transition
from stepward.domain.decide import Look
from stepward.domain.errors import Rejected, StepwardError, Transient, Unreadable
from stepward.domain.facts import OVERDUE, Fact, FactKind
from stepward.ports import Swept

MOST_PER_RUN = 5_000
TIME_TO_FINISH = 5_000


@dataclass(frozen=True, slots=True)
class Supervise:
    """Looks at every task whose due time has passed, in all `shards` of the index."""

    transition: Transition
    shards: int

    def sweep(self, remaining: Callable[[], int]) -> Swept:
        """One run, which ends in time for `remaining` (milliseconds) to stay above zero.

        What it does not reach stays due, so the next run finds it. Nothing that cannot be read, and no record that
        others keep changing, keeps the sweep from the rest.
        """
        figures, look = Swept(), None
        for order_id in self._due():
            if figures.listed >= MOST_PER_RUN or remaining() < TIME_TO_FINISH:
                figures = replace(figures, complete=False)
                break
            if order_id is None:
                figures = replace(figures, complete=False)
                continue
            look = look or Look(self._backlogged())
            figures = _counted(figures, self._look(order_id, look))
        self.transition.telemetry.swept(figures)
        return figures

    def _due(self) -> Iterator[str | None]:
        """The due tasks of all shards, None in place of what could not be read; no shard is always last."""
        now = self.transition.now()
        first = now // 60_000 % self.shards
        for offset in range(self.shards):
            shard = (first + offset) % self.shards
            try:
                yield from self.transition.store.due(shard, now - self.transition.timing.skew_margin)
            except Transient as error:
                self._tell("", FactKind.POSTPONED, error)
                yield None

    def _backlogged(self) -> frozenset[str]:
        """The agents with a backlog; if that cannot be told, recovery goes on and excuses nobody."""
        try:
            return self.transition.queues.backlogged()
        except Transient as error:
            self._tell("", FactKind.POSTPONED, error)
            return frozenset()

    def _look(self, order_id: str, look: Look) -> tuple[Fact, ...]:
        try:
            return self.transition.apply(order_id, look)
        except (Transient, Rejected, Unreadable) as error:
            kind = FactKind.UNREADABLE if isinstance(error, Unreadable) else FactKind.POSTPONED
            return (self._tell(order_id, kind, error),)

    def _tell(self, order_id: str, kind: FactKind, error: StepwardError) -> Fact:
        fact = Fact(self.transition.now(), kind, note=str(error))
        self.transition.telemetry.record(order_id, fact)
        return fact


def _counted(figures: Swept, facts: tuple[Fact, ...]) -> Swept:
    overdue = [fact.value for fact in facts if fact.kind in OVERDUE]
    return replace(
        figures,
        listed=figures.listed + 1,
        overdue=figures.overdue + len(overdue),
        oldest=max([figures.oldest, *overdue]),
    )
