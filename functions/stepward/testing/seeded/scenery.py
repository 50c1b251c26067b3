"""What happens to a whole world: clocks that differ, a deployment, outages, and agents that operators pause."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination.breaker import AgentPause
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import HOUR, MINUTE, SECOND
from stepward.testing.seeded.instances import Instances

MOST_DEPLOYMENTS = 3
KEEPING, ROLLED_BACK = 0.6, 0.2
UPDATED_AFTER = [0, SECOND, 20 * SECOND, 2 * MINUTE, 15 * MINUTE, 40 * MINUTE]


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
        newest = len(self.parts.releases) - 1
        for turn in range(MOST_DEPLOYMENTS if newest else 0):
            if dice := self.gate.chances.happens(f"deployment {turn}", 0.3):
                self._deploy(turn, dice, min(newest, turn + 1))
        if self.gate.profile.quiet:
            return
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

    def _deploy(self, turn: int, dice: Random, number: int) -> None:
        """Update each function on its own, some late, some back to what it ran, some with instances of both.

        Most deployments keep the operations and the queues of the releases before.
        """
        begins, keeps = dice.randrange(self.within * 2), range(number + 1) if dice.random() < KEEPING else ()
        for part in self.parts.all_parts():
            name = f"deployment {turn} of {part}"
            if (own := self.gate.chances.happens(name, 1.0)) is None:
                continue
            before = [release.number for release in self.parts.running[part]]
            at, both = begins + own.choice(UPDATED_AFTER), [*before, number]
            self._update(at, part, own.choice([both, [number], [number]]), keeps, name)
            if own.random() < ROLLED_BACK:
                self._update(at + own.choice(UPDATED_AFTER), part, before, (), f"{name} is rolled back")

    def _update(self, at: int, part: str, numbers: Sequence[int], keeps: Collection[int], what: str) -> None:
        def update() -> None:
            if self.gate.chances.over:
                return
            self.gate.diary.note("", f"{what}: {', '.join(map(str, numbers))}" + (" keeps all before" if keeps else ""))
            self.gate.diary.counts["updates of a function"] += 1
            self.parts.deploy(part, numbers, keeps)

        self.gate.loop.later(at, update)

    def _close(self) -> None:
        self.parts.pump.is_closed = True

    def _open(self) -> None:
        self.parts.pump.is_closed = False

    def _pause(self, agent: str) -> None:
        pause = AgentPause("ada", "the service is being moved", self.gate.loop.now)
        Breakers(self.parts.shared_records).pause(agent, pause)

    def _resume(self, agent: str) -> None:
        Breakers(self.parts.shared_records).resume(agent, self.gate.loop.now)
