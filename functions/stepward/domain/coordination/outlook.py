"""What a Scheduler knows of agents when it claims a step that has a fallback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

USUAL_CALL = 1_000
"""Milliseconds that a call is taken to last. Slower services are found full later, when the step is overdue: a fallback
that was not needed may cost money, one that comes late costs time."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Agents that are `unavailable`: their breaker is open, they are paused, or have no queue.

    `queued` counts the requests that wait for an agent, `at_once` how many it serves at once; an agent that is not
    there is taken to have room.
    """

    unavailable: frozenset[str] = frozenset()
    queued: Mapping[str, int] = field(default_factory=dict)
    at_once: Mapping[str, int] = field(default_factory=dict)

    def refusal(self, agent: str, complete_within: int) -> str:
        """Why the agent would not serve one more request within so many milliseconds; empty if it would.

        It is full if more requests wait than it serves in that time, at its full concurrency.
        """
        if agent in self.unavailable:
            return "its agent takes no requests"
        served = self.at_once.get(agent, 0) * complete_within // USUAL_CALL
        full = served and self.queued.get(agent, 0) > served
        return f"its agent takes no requests in time: {self.queued[agent]} wait" if full else ""
