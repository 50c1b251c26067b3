"""Every single point of a path, and every pair of deaths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from stepward.testing.faults.path import Path, Run, run
from stepward.testing.faults.pulse import DEATHS, OF_EVERY_CALL, Kind, Point

MOST_TOLD = 3


@dataclass(slots=True)
class Tally:
    """What came of a path: `calls` it makes undisturbed, runs with trouble at one point, at two, and what survived.

    `failed` holds the first few that did not.
    """

    path: str
    calls: int = 0
    points: int = 0
    pairs: int = 0
    survived: int = 0
    failed: list[Run] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """How many runs did not survive."""
        return self.points + self.pairs - self.survived

    def count(self, made: Run) -> None:
        """Take one more run in."""
        self.points += len(made.points) == 1
        self.pairs += len(made.points) == 2
        if not made.faults:
            self.survived += 1
        elif len(self.failed) < MOST_TOLD:
            self.failed.append(made)

    def add(self, part: Tally) -> None:
        """Take another tally of the same path in."""
        self.points += part.points
        self.pairs += part.pairs
        self.survived += part.survived
        self.failed = [*self.failed, *part.failed][:MOST_TOLD]


@lru_cache(maxsize=64)
def undisturbed(path: Path) -> Run:
    """The path when all goes well; it is the same each time."""
    return run(path)


def points_of(made: Run, call: int | None = None) -> Iterator[Point]:
    """What can happen at this call of a path, or at each of its calls."""
    for number in [call] if call else range(1, made.calls + 1):
        yield from (Point(number, kind) for kind in OF_EVERY_CALL)
        if number in made.several:
            yield Point(number, Kind.HALF_SENT)


def pairs(path: Path, call: int) -> Iterator[Run]:
    """A death at this call and one more at any later one, those of the recovery included."""
    for kind in DEATHS:
        first = Point(call, kind)
        seconds = range(call + 1, run(path, first).calls + 1)
        yield from (run(path, first, Point(second, then)) for second in seconds for then in DEATHS)


def at_call(path: Path, call: int, *, with_pairs: bool) -> Tally:
    """All that begins at this call."""
    found = Tally(path.name)
    singles = (run(path, point) for point in points_of(undisturbed(path), call))
    for made in (*singles, *(pairs(path, call) if with_pairs else ())):
        found.count(made)
    return found


def tally(path: Path, *, with_pairs: bool = False) -> Tally:
    """All of the path."""
    calls = undisturbed(path).calls
    parts = (at_call(path, call, with_pairs=with_pairs) for call in range(1, calls + 1))
    return total(path.name, calls, parts)


def total(path: str, calls: int, parts: Iterable[Tally]) -> Tally:
    """The parts of one path together."""
    found = Tally(path, calls)
    for part in parts:
        found.add(part)
    return found
