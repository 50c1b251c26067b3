"""The Supervisor's sweep of the tasks, and what it has to know of the agents' services before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.transition import Transition
from stepward.domain.coordination.breaker import Breaker, Mode, unavailable, unsettled
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import StepwardError, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Alert, TaskAlert
from stepward.domain.task.decide import AlertSent
from stepward.ports import Alerts, Telemetry


@dataclass(frozen=True, slots=True)
class Watch:
    """What a Supervisor has to know of its deployment's `agents` before it checks a task."""

    breakers: Breakers
    agents: Collection[str]
    telemetry: Telemetry

    def check(self, backlogged: frozenset[str], now: int) -> DeadlineCheck:
        """The deadline check of one run; an agent whose breaker cannot be read counts as healthy."""
        found = {agent: self.of(agent, now) for agent in self.agents}
        return DeadlineCheck(
            backlogged=backlogged,
            unavailable=frozenset(agent for agent, breaker in found.items() if unavailable(breaker, now)),
            unsettled=frozenset(agent for agent, breaker in found.items() if unsettled(breaker, now)),
            until={agent: breaker.until for agent, breaker in found.items() if breaker.mode is Mode.OPEN},
            defective=frozenset(
                (agent, defect.operation) for agent, breaker in found.items() for defect in breaker.blame.defects
            ),
        )

    def of(self, agent: str, now: int) -> Breaker:
        """The agent's breaker; one that cannot be read is logged, and counts as closed."""
        try:
            return self.breakers.of(agent)
        except StepwardError as error:
            self.telemetry.record("", HistoryEntry(now, HistoryKind.POSTPONED, by=agent, note=str(error)))
            return Breaker()


@dataclass(frozen=True, slots=True)
class TaskSweep:
    """Checks the tasks whose due time has passed, and requests the recovery of what is overdue."""

    transition: Transition
    watch: Watch

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose task is due, by a clock set back by the skew margin."""
        return self.transition.store.due(shard, self.transition.now() - self.transition.timing.skew_margin)

    def check(self, alerts: Alerts) -> Callable[[str], Sequence[HistoryEntry]]:
        """What checks a task; all tasks of a run share one deadline check, made when the first one needs it."""
        transition, event, lock = replace(self.transition, alerts=alerts), cache(self._event), Lock()

        def check(order_id: str) -> Sequence[HistoryEntry]:
            with lock:  # of checks side by side, the first one makes it
                known = event()
            return transition.apply(order_id, known)

        return check

    def confirm(self, alert: Alert) -> None:
        """Note that an operator has been alerted to a step; raises Transient, Rejected or Corrupt."""
        if isinstance(alert, TaskAlert):
            self.transition.apply(alert.order_id, AlertSent(alert.step, alert.attempt))

    def _event(self) -> DeadlineCheck:
        return self.watch.check(self._backlogged(), self.transition.now())

    def _backlogged(self) -> frozenset[str]:
        """The agents with a backlog; if that is unknown, recovery goes on and counts every failure."""
        try:
            return self.transition.queues.backlogged()
        except Transient as error:
            entry = HistoryEntry(self.transition.now(), HistoryKind.POSTPONED, note=str(error))
            self.transition.telemetry.record("", entry)
            return frozenset()
