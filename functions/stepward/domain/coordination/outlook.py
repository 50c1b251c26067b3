"""What is known of agents when the steps of a task are claimed, or found overdue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepward.domain.workflow.effects import Executor

USUAL_CALL = 1_000
"""Milliseconds that a call is taken to last. Slower services are found full later, when the step is overdue: a fallback
that was not needed may cost money, one that comes late costs time."""

NO_QUEUE, NO_REQUESTS = "its agent has no queue", "its agent takes no requests"


@dataclass(frozen=True, slots=True)
class Outlook:
    """Agents that are `absent`, for they have no queue, or `unavailable`: their breaker is open, or they are paused.

    `queued` counts the requests that wait for an agent; one that is not there is taken to have room.
    """

    absent: frozenset[str] = frozenset()
    unavailable: frozenset[str] = frozenset()
    queued: Mapping[str, int] = field(default_factory=dict)

    def refusal(self, executor: Executor, complete_within: int) -> str:
        """Why the executor would not serve one more request within so many milliseconds; empty if it would.

        It is full if more requests wait than it serves in that time, at its full concurrency.
        """
        if executor.agent in self.absent:
            return NO_QUEUE
        if executor.agent in self.unavailable:
            return NO_REQUESTS
        served, queued = executor.at_once * complete_within // USUAL_CALL, self.queued.get(executor.agent, 0)
        return f"its agent takes no requests in time: {queued} wait" if served and queued > served else ""


@dataclass(frozen=True, slots=True)
class DeadlineCheck:
    """The Supervisor checks a task that its index lists as due.

    `backlogged` agents have requests waiting in their queue, which nobody may have tried yet. `unavailable` ones
    take no requests now: their breaker is open, or an operator paused them. `unsettled` ones took none a while ago,
    and may have returned requests to their queue. `defective` names operations, each with its agent, of which the code
    or a setting is at fault, so that no order is to blame. `until` says how long an open breaker stays so (epoch ms).
    """

    backlogged: frozenset[str] = frozenset()
    unavailable: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    defective: frozenset[tuple[str, str]] = frozenset()
    until: Mapping[str, int] = field(default_factory=dict)
