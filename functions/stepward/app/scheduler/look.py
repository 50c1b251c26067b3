"""A Scheduler's look at agents, before it claims a step that has a fallback."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination.breaker import unavailable
from stepward.domain.coordination.outlook import Outlook
from stepward.domain.errors import StepwardError
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.ports import Queues, Telemetry

REMEMBERED_FOR = 2_000


@dataclass(frozen=True, slots=True)
class _Seen:
    at: int
    available: bool
    queued: int


@dataclass(frozen=True, slots=True)
class Look:
    """Reads breakers and counts requests, and remembers both for two seconds."""

    breakers: Breakers
    queues: Queues
    telemetry: Telemetry
    now: Callable[[], int]
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def at(self, agents: Collection[str]) -> Outlook:
        """What is known of these agents; one that cannot be looked at counts as one with room."""
        found = {agent: self._of(agent) for agent in agents}
        return Outlook(
            unavailable=frozenset(agent for agent, seen in found.items() if not seen.available),
            queued={agent: seen.queued for agent, seen in found.items()},
        )

    def _of(self, agent: str) -> _Seen:
        now, seen = self.now(), self._seen.get(agent)
        if seen is None or not 0 <= now - seen.at < REMEMBERED_FOR:
            seen = self._seen[agent] = self._looked(agent, now)
        return seen

    def _looked(self, agent: str, now: int) -> _Seen:
        try:
            queued = self.queues.queued(agent)
            available = queued is not None and not unavailable(self.breakers.of(agent), now)
            return _Seen(now, available, queued or 0)
        except StepwardError as error:
            self.telemetry.record("", HistoryEntry(now, HistoryKind.POSTPONED, by=agent, note=str(error)))
            return _Seen(now, available=True, queued=0)
