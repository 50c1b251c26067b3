"""Runs one world, and finds the shortest schedule of accidents that breaks the same invariant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from stepward.domain.key import TaskKey
from stepward.testing.faults.broken import Broken
from stepward.testing.seeded.world import Casting, World

MOST_WORLDS = 400
LONGEST = 120
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Finding:
    """A seed under which an invariant broke, or the engine raised what it must not; and the accidents until then."""

    casting: Casting = field(repr=False)
    seed: int
    invariant: str
    order_id: str
    what: str
    accidents: tuple[str, ...] = field(repr=False)


def live(
    casting: Casting, seed: int, only: frozenset[str] | None = None, *, noted: bool = False
) -> tuple[World, Finding | None]:
    """Run the world of the seed, with no other accidents than `only`; return it, and what broke in it."""
    world = World(casting, seed, only, noted)
    try:
        world.run()
    except Broken as broken:
        return world, _finding(world, broken.invariant, broken.order_id, str(broken))
    except Exception as error:  # noqa: BLE001 - whatever else the engine raises is a finding as well
        return world, _finding(world, type(error).__name__, world.gate.here.about, repr(error))
    return world, None


def report(finding: Finding, again: str = "") -> Iterator[str]:
    """A finding as people read it; the timeline is that of the order concerned, `again` how to see it once more."""
    yield f"seed {finding.seed}: {finding.what}"
    yield f"  order {finding.order_id or '(none in particular)'}, {len(finding.accidents)} accidents:"
    yield from (f"    {accident}" for accident in finding.accidents)
    world, _ = live(finding.casting, finding.seed, frozenset(finding.accidents), noted=True)
    lines = world.diary.of(finding.order_id)
    left_out = len(lines) - LONGEST
    yield f"  what happened, without the first {left_out} lines:" if left_out > 0 else "  what happened:"
    yield from (f"    {line}" for line in lines[-LONGEST:])
    yield f"  again: {again or 'worlds(app, order, seeds=[' + str(finding.seed) + '])'}"


def shortest(finding: Finding) -> Finding:
    """Find the same fault with fewer accidents, in MOST_WORLDS tries: first fewer orders, then less of each."""
    found, lived = finding, 0

    def breaks(accidents: Sequence[str]) -> bool:
        nonlocal found, lived
        lived += 1
        if lived > MOST_WORLDS:
            return False
        _, again = live(finding.casting, finding.seed, frozenset(accidents))
        if again is None or again.invariant != finding.invariant:
            return False
        found = again
        return True

    own = [name for name in finding.accidents if _about(name) in ("", finding.order_id)]
    if not breaks(own):
        orders: dict[str, list[str]] = {}
        for name in finding.accidents:
            orders.setdefault(_about(name), []).append(name)
        fewest(list(orders.values()), lambda kept: breaks([*chain.from_iterable(kept)]))
    fewest(found.accidents, breaks)
    return found


def fewest(parts: Sequence[Part], breaks: Callable[[Sequence[Part]], bool]) -> list[Part]:
    """Find a part of `parts` of which no piece can be left out (delta debugging); all of them together must break."""
    kept, size = list(parts), max(1, len(parts) // 2)
    while True:
        before, start = len(kept), 0
        while start < len(kept):
            fewer = kept[:start] + kept[start + size :]
            if breaks(fewer):
                kept = fewer
            else:
                start += size
        if size == 1 and len(kept) == before:
            return kept
        size = max(1, size // 2)


def _finding(world: World, invariant: str, order_id: str, what: str) -> Finding:
    return Finding(world.casting, world.seed, invariant, order_id, what, tuple(world.chances.happened))


def _about(accident: str) -> str:
    """The order of the accident; "" if none in particular."""
    first = accident.partition(" ")[0].rstrip(":")
    return first if TaskKey.read(first).order_id.startswith("ord-") else ""
