"""The breakers as all instances share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.breaker import AgentPause, Breaker, paused, resumed
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.ports import SharedRecords


@dataclass(frozen=True, slots=True)
class Breakers:
    """The breaker of every agent, in one small record each; one that is not there is closed."""

    shared_records: SharedRecords

    def of(self, agent: str) -> Breaker:
        """The agent's breaker as it stands; raises Transient or Unreadable."""
        return _breaker(self.shared_records.read(_name(agent)))

    def change(self, agent: str, decide: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Write what `decide` makes of the breaker, and nothing if that is the same; it before and after.

        Raises Transient or Unreadable.
        """
        return self._record(agent).change(decide)

    def pause(self, agent: str, pause: AgentPause) -> bool:
        """Have no instance call the agent's service; False if it was paused already, which stays as it is."""
        before, _ = self.change(agent, lambda found: paused(found, pause))
        return before.pause is None

    def resume(self, agent: str, now: int) -> bool:
        """End the pause; False if there was none."""
        before, _ = self.change(agent, lambda found: resumed(found, now))
        return before.pause is not None

    def _record(self, agent: str) -> SharedValue[Breaker]:
        return SharedValue(self.shared_records, _name(agent), _breaker, Breaker.body)


def _name(agent: str) -> str:
    return f"breaker/{agent}"


def _breaker(shared_record: SharedRecord | None) -> Breaker:
    return Breaker() if shared_record is None else Breaker.of(shared_record.body)
