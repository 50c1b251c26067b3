"""I14: how many calls of an agent a second sees, by the clocks of those who call."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from stepward.domain.coordination.pace import grant
from stepward.testing.faults.loop import SECOND


@dataclass(slots=True)
class Rates:
    """When the agents called that have a rate (epoch ms)."""

    calls: dict[str, list[int]] = field(default_factory=dict)

    def exceeded(self, agent: str, rate: float, now: int) -> Iterator[str]:
        """Note a call, and say in which second there are more than the rate and one grant."""
        if not rate:
            return
        calls, most = self.calls.setdefault(agent, []), ceil(rate + grant(rate))
        insort(calls, now)
        for first in calls[bisect_left(calls, now - SECOND + 1) : bisect_left(calls, now) + 1]:
            if (seen := bisect_left(calls, first + SECOND) - bisect_left(calls, first)) > most:
                yield f"{agent} called {seen} times in a second from {first} on, at a rate of {rate:g}"
                return
