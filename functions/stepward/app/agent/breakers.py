"""The breakers that all instances share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.breaker import AgentPause, Breaker, paused, resumed
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.ports import SharedRecords


@dataclass(frozen=True, slots=True)
class Breakers:
    """The breaker of every agent, each in a shared record; a missing record is a closed breaker."""

    shared_records: SharedRecords

    def of(self, agent: str) -> Breaker:
        """The agent's breaker; raises Transient, Corrupt or NotUnderstood."""
        return _breaker(self.shared_records.read(_name(agent)))

    def change(self, agent: str, decide: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Write the breaker that `decide` returns, if it differs; the breaker before and after.

        Raises Transient, Corrupt or NotUnderstood.
        """
        return self._record(agent).change(decide)

    def pause(self, agent: str, pause: AgentPause) -> bool:
        """Keep all instances from calling the agent's service; False if an earlier pause stays."""
        before, _ = self.change(agent, lambda found: paused(found, pause))
        return before.pause is None

    def resume(self, agent: str, now: int) -> tuple[Breaker, Breaker]:
        """End the pause, and have a breaker that is not closed let a probe through at once; before and after."""
        return self.change(agent, lambda found: resumed(found, now))

    def _record(self, agent: str) -> SharedValue[Breaker]:
        return SharedValue(self.shared_records, _name(agent), _breaker, Breaker.body)


def _name(agent: str) -> str:
    return f"breaker/{agent}"


def _breaker(shared_record: SharedRecord | None) -> Breaker:
    return Breaker() if shared_record is None else Breaker.of(shared_record.body)
