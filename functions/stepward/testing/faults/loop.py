"""Virtual time: events wait in one line, and time stops while an event runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from stepward.testing.faults.broken import Broken

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
START = 1_800_000_000_000
"""When virtual time begins, in epoch milliseconds."""
MOST_STEPS = 60_000
"""A world that takes more of them goes round in a circle."""


@dataclass(slots=True)
class Loop:
    """The clock of a world and its line of events; `steps` counts those that have happened."""

    now: int = START
    steps: int = 0
    waiting: list[tuple[int, int, Callable[[], object]]] = field(default_factory=list)
    depth: int = 0
    turns: Iterator[int] = field(default_factory=count)

    def later(self, wait: int, act: Callable[[], object]) -> None:
        """Have `act` happen after `wait` milliseconds."""
        heappush(self.waiting, (self.now + max(0, wait), next(self.turns), act))

    def run(self, until: int) -> None:
        """Let everything happen that is to happen up to `until`."""
        while self.waiting and self.waiting[0][0] <= until:
            at, _, act = heappop(self.waiting)
            self.step(at)
            act()
        self.now = max(self.now, until)

    def step(self, at: int) -> None:
        """One more event happens, at this time; raises Broken if there is no end of them."""
        self.now = max(self.now, at)
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Broken("I1", "", f"{MOST_STEPS} events, and no end: something goes round in a circle")
