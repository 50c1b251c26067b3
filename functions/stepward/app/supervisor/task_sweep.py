"""The Supervisor's sweep of the tasks, and what it has to know of the agents' services before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.transition import Transition
from stepward.domain.coordination.breaker import Breaker, unavailable, unsettled
from stepward.domain.errors import StepwardError, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Alert, StepFailed
from stepward.domain.task.deadlines import DeadlineCheck
from stepward.domain.task.decide import AlertSent
from stepward.ports import Alerts, Telemetry


@dataclass(frozen=True, slots=True)
class Watch:
    """What a Supervisor has to know of its deployment's `agents` before it looks at a task."""

    breakers: Breakers
    agents: Collection[str]
    telemetry: Telemetry

    def look(self, backlogged: frozenset[str], now: int) -> DeadlineCheck:
        """The look of one run; an agent whose breaker cannot be read counts as well: its recovery goes on."""
        found = {agent: self._of(agent, now) for agent in self.agents}
        return DeadlineCheck(
            backlogged=backlogged,
            unavailable=frozenset(agent for agent, breaker in found.items() if unavailable(breaker, now)),
            unsettled=frozenset(agent for agent, breaker in found.items() if unsettled(breaker, now)),
        )

    def _of(self, agent: str, now: int) -> Breaker:
        try:
            return self.breakers.of(agent)
        except StepwardError as error:
            self.telemetry.record("", HistoryEntry(now, HistoryKind.POSTPONED, by=agent, note=str(error)))
            return Breaker()


@dataclass(frozen=True, slots=True)
class TaskSweep:
    """Looks at the tasks whose due time has passed, and requests the recovery of what is overdue."""

    transition: Transition
    watch: Watch

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose task is due, by a clock set back by what clocks may differ."""
        return self.transition.store.due(shard, self.transition.now() - self.transition.timing.skew_margin)

    def check(self, alerts: Alerts) -> Callable[[str], Sequence[HistoryEntry]]:
        """What looks at a task; all of one run have the same look at the agents, when the first one needs it."""
        transition, look = replace(self.transition, alerts=alerts), cache(self._look)
        return lambda order_id: transition.apply(order_id, look())

    def told(self, alert: Alert) -> None:
        """Note that an operator has heard of a step's Error; raises Transient, Rejected or Unreadable."""
        if isinstance(alert, StepFailed):
            self.transition.apply(alert.order_id, AlertSent(alert.step, alert.attempt))

    def _look(self) -> DeadlineCheck:
        return self.watch.look(self._backlogged(), self.transition.now())

    def _backlogged(self) -> frozenset[str]:
        """The agents with a backlog; if that cannot be told, recovery goes on and excuses nobody."""
        try:
            return self.transition.queues.backlogged()
        except Transient as error:
            entry = HistoryEntry(self.transition.now(), HistoryKind.POSTPONED, note=str(error))
            self.transition.telemetry.record("", entry)
            return frozenset()
