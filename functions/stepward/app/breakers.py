"""The breakers as all instances share them: read, decide, write if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.breaker import Breaker, Pause, paused, resumed
from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import Conflict
from stepward.ports import Controls

TRIES = 8


@dataclass(frozen=True, slots=True)
class Breakers:
    """The breaker of every agent, in one small record each; one that is not there is closed."""

    controls: Controls

    def of(self, agent: str) -> Breaker:
        """The agent's breaker as it stands; raises Transient or Unreadable."""
        return _breaker(self.controls.read(_name(agent)))

    def change(self, agent: str, decide: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Write what `decide` makes of the breaker, and nothing if that is the same; it before and after.

        Raises Transient or Unreadable.
        """
        name = _name(agent)
        for _ in range(TRIES):
            read = self.controls.read(name)
            before = _breaker(read)
            after = decide(before)
            if after == before:
                return before, after
            control = Control.following(read, name, after.body())
            if self.controls.write(control, replaces=read):
                return before, after
        raise Conflict(f"{name}: {TRIES} writes lost the race")

    def pause(self, agent: str, pause: Pause) -> bool:
        """Have no instance call the agent's service; False if it was paused already, which stays as it is."""
        before, _ = self.change(agent, lambda found: paused(found, pause))
        return before.pause is None

    def resume(self, agent: str, now: int) -> bool:
        """End the pause; False if there was none."""
        before, _ = self.change(agent, lambda found: resumed(found, now))
        return before.pause is not None


def _name(agent: str) -> str:
    return f"breaker/{agent}"


def _breaker(control: Control | None) -> Breaker:
    return Breaker() if control is None else Breaker.of(control.body)
