"""What a path is, so that every part of the system can bring its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from stepward.testing.faults.pulse import Point, Pulse

NOT_REACHED = "it never came to all of its points"


class World(Protocol):
    """One run of the real use cases over the memory twins; every port call goes through its pulse."""

    def run(self) -> None:
        """Play until nothing waits, whoever dies in between."""

    def broken(self) -> Iterator[str]:
        """Each invariant that does not hold, in words."""


@dataclass(frozen=True, slots=True)
class Path:
    """One way through the system; `begin` makes a fresh world that counts its calls with the pulse it is given.

    A path that `is_short` is tried with every pair of deaths as well.
    """

    name: str
    what: str
    begin: Callable[[Pulse], World]
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
    def story(self) -> str:
        """All of it, to read."""
        points = " and ".join(map(str, self.points)) or "undisturbed"
        return "\n".join([f"{self.path}, {points}:", *self.timeline, *(f"BROKEN: {fault}" for fault in self.faults)])


def run(path: Path, *points: Point) -> Run:
    """Play the path with something going wrong at each of the points."""
    pulse = Pulse.at(*points)
    world = path.begin(pulse)
    world.run()
    missed = [] if pulse.hits == len(points) else [NOT_REACHED]
    faults, several = (*missed, *world.broken()), frozenset(pulse.several)
    return Run(path.name, points, pulse.calls, faults, tuple(pulse.told), several)
