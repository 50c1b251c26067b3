"""Asks whole worlds, one after another, whether they miss a guard that is switched off."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from random import Random

from stepward.testing.faults.enumeration import points_of
from stepward.testing.faults.path import NOT_REACHED, Path, run
from stepward.testing.faults.pulse import Point
from tests.lab.crash_points.paths import PATHS
from tests.lab.guards.switch import Guard, switched_off
from tests.lab.worlds.cast import live

OF_THE_ENGINE = ("stepward/domain/", "stepward/app/")
LONGEST = 30
"""Seconds that one world may take; without a guard, some never end."""


@dataclass(frozen=True, slots=True)
class Missed:
    """How many worlds it took, which one it was, and what did not hold there."""

    worlds: int
    where: str
    what: str


def missed_at_crash_points(guard: Guard, most: int) -> Missed | None:
    """The first of `most` worlds with one crash point, or none, in which something breaks without the guard."""
    names = (f"{path.name}, {' and '.join(map(str, points)) or 'undisturbed'}" for path, points in runs())
    return _missed(guard, zip(names, (partial(_broken, *each) for each in runs()), strict=True), most)


def missed_by_seeds(guard: Guard, most: int) -> Missed | None:
    """The same of the simulation's worlds, seed by seed."""
    return _missed(guard, ((f"seed {seed}", partial(_found, seed)) for seed in range(most)), most)


def _missed(guard: Guard, worlds: Iterator[tuple[str, Callable[[], str]]], most: int) -> Missed | None:
    """None as well for a guard in an adapter: the worlds run on the adapters' twins."""
    if not guard.patch.file.startswith(OF_THE_ENGINE):
        return None
    with switched_off(guard.patch):
        for number, (where, broken) in zip(range(1, most + 1), worlds, strict=False):
            if what := _whatever_breaks(broken):
                return Missed(number, where, what)
    return None


@cache
def runs() -> list[tuple[Path, tuple[Point, ...]]]:
    """Every path undisturbed, then every single crash point of all paths, shuffled in a way that stays the same."""
    undisturbed = [(path, run(path)) for path in PATHS.values()]
    points = [(path, (point,)) for path, made in undisturbed for point in points_of(made)]
    Random(1).shuffle(points)  # noqa: S311 - dice that can be thrown again
    return [*((path, ()) for path, _ in undisturbed), *points]


def _broken(path: Path, points: tuple[Point, ...]) -> str:
    """What breaks; without a guard there may be fewer calls, so a point that is never reached is no fault."""
    return next((fault for fault in run(path, *points).faults if fault != NOT_REACHED), "")


def _found(seed: int) -> str:
    _, finding = live(seed)
    return finding.invariant if finding else ""


def _whatever_breaks(broken: Callable[[], str]) -> str:
    try:
        with _in_time():
            return broken()
    except Exception as error:  # noqa: BLE001 - an engine without a guard may break in any way
        return f"{type(error).__name__}: {error}"


@contextmanager
def _in_time() -> Iterator[None]:
    def ends(*_: object) -> None:
        raise TimeoutError(f"it does not end within {LONGEST} s")

    before = signal.signal(signal.SIGALRM, ends)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
