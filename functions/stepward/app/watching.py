"""How the agents' services are doing, as a Supervisor has to know it; the agents themselves do not load it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stepward.app.breakers import Breakers
from stepward.domain.breaker import Breaker, unavailable, unsettled
from stepward.domain.errors import StepwardError
from stepward.domain.facts import Fact, FactKind
from stepward.domain.looking import Look
from stepward.ports import Telemetry


@dataclass(frozen=True, slots=True)
class Watch:
    """What a Supervisor has to know of its deployment's `agents` before it looks at a task."""

    breakers: Breakers
    agents: Collection[str]
    telemetry: Telemetry

    def look(self, backlogged: frozenset[str], now: int) -> Look:
        """The look of one run; an agent whose breaker cannot be read counts as well: its recovery goes on."""
        found = {agent: self._of(agent, now) for agent in self.agents}
        return Look(
            backlogged=backlogged,
            unavailable=frozenset(agent for agent, breaker in found.items() if unavailable(breaker, now)),
            unsettled=frozenset(agent for agent, breaker in found.items() if unsettled(breaker, now)),
        )

    def _of(self, agent: str, now: int) -> Breaker:
        try:
            return self.breakers.of(agent)
        except StepwardError as error:
            self.telemetry.record("", Fact(now, FactKind.POSTPONED, by=agent, note=str(error)))
            return Breaker()
