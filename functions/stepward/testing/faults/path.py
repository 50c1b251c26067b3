"""A path through the system, and what one run of it comes to; every part of the system can bring its own paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stepward.testing.faults.pulse import Point, Pulse

NOT_REACHED = "it never came to all of its points"


@dataclass(frozen=True, slots=True)
class Path:
    """One way through the system.

    `live` runs the real use cases over the memory twins until nothing waits, with each port call counted by the pulse;
    it yields each invariant that does not hold, in words. A path that `is_short` is tried with every pair of deaths.
    """

    name: str
    what: str
    live: Callable[[Pulse], Iterable[str]]
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a path: what went wrong at which points, how many calls it made, what did not hold, its timeline.

    `several` are the calls that send more than one message.
    """

    path: str
    points: tuple[Point, ...]
    calls: int
    faults: tuple[str, ...]
    timeline: tuple[str, ...]
    several: frozenset[int] = frozenset()

    @property
    def report(self) -> str:
        """The points, the timeline and what is broken, as lines to read."""
        points = " and ".join(map(str, self.points)) or "undisturbed"
        return "\n".join([f"{self.path}, {points}:", *self.timeline, *(f"BROKEN: {fault}" for fault in self.faults)])


def run(path: Path, *points: Point) -> Run:
    """Play the path with something going wrong at each of the points."""
    pulse = Pulse.at(*points)
    broken = tuple(path.live(pulse))
    missed = () if pulse.hits == len(points) else (NOT_REACHED,)
    return Run(path.name, points, pulse.calls, missed + broken, tuple(pulse.timeline), frozenset(pulse.several))
