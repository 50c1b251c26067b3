"""What happens to a whole world: clocks that differ, a deployment, outages, and agents that operators pause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination.breaker import AgentPause
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import HOUR, MINUTE
from stepward.testing.seeded.instances import Instances


@dataclass(frozen=True, slots=True)
class Scenery:
    """The events of a world, each an accident that can be left out; all begin `within` these milliseconds."""

    gate: Gate
    parts: Instances
    within: int

    def set(self, copies: Mapping[str, int]) -> None:
        """Draw all of it; `copies` says how many instances each part has."""
        for name, count in copies.items():
            self._differ(name, count)
        if self.parts.new is not self.parts.app:
            self._perhaps("a new version is deployed", 0.3, [5 * MINUTE], self._deploy, self._finish)
        lasts = [5 * MINUTE, HOUR, 5 * HOUR]
        self._perhaps("the platform is out", 0.1, lasts, self._close, self._open)
        down = self.parts.down
        for agent in self.parts.agents():
            out, back = partial(down.add, agent), partial(down.discard, agent)
            self._perhaps(f"the service of {agent} is out", 0.15, [MINUTE, 6 * MINUTE, 40 * MINUTE], out, back)
            pause, resume = partial(self._pause, agent), partial(self._resume, agent)
            self._perhaps(f"operators pause {agent}", 0.1, [MINUTE, 15 * MINUTE], pause, resume)

    def _perhaps(
        self, name: str, rate: float, lasts: list[int], begin: Callable[[], None], end: Callable[[], None]
    ) -> None:
        """Have something begin and end, if it happens."""
        dice = self.gate.chances.happens(name, rate)
        if dice is None:
            return
        begins = dice.randrange(self.within)

        def tell_and_begin() -> None:
            self.gate.diary.note("", name)
            begin()

        self.gate.diary.counts[name] += 1
        self.gate.loop.later(begins, tell_and_begin)
        self.gate.loop.later(begins + dice.choice(lasts), end)

    def _differ(self, name: str, copies: int) -> None:
        widest = 3 * MINUTE if self.gate.profile.skewed else self.parts.settings.timing.skew_margin // 2
        for copy in range(copies):
            if dice := self.gate.chances.happens(f"the clock of {name}-{copy}", 0.3):
                self.parts.skews[f"{name}-{copy}"] = dice.randint(-widest, widest)
                self.gate.diary.counts["clocks that differ"] += 1

    def _deploy(self) -> None:
        """Agents get both versions first; then one instance takes orders for the new one, and later every instance."""
        self.parts.deploy(self.parts.app, self.parts.new)

    def _finish(self) -> None:
        self.parts.deploy(self.parts.new, self.parts.new, self.parts.app)

    def _close(self) -> None:
        self.parts.pump.is_closed = True

    def _open(self) -> None:
        self.parts.pump.is_closed = False

    def _pause(self, agent: str) -> None:
        pause = AgentPause("ada", "the service is being moved", self.gate.loop.now)
        Breakers(self.parts.shared_records).pause(agent, pause)

    def _resume(self, agent: str) -> None:
        Breakers(self.parts.shared_records).resume(agent, self.gate.loop.now)
