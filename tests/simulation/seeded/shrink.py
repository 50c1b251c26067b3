"""The shortest schedule of accidents that still breaks a world, by leaving out ever smaller parts of it."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

from tests.simulation.seeded.finding import Finding, live

MOST_WORLDS = 400
Part = TypeVar("Part")


def shortest(finding: Finding) -> Finding:
    """The same fault with as few accidents as can be found in so many worlds: fewer orders first, then less of each."""
    found, lived = finding, 0

    def breaks(accidents: Sequence[str]) -> bool:
        nonlocal found, lived
        lived += 1
        if lived > MOST_WORLDS:
            return False
        _, again = live(finding.seed, frozenset(accidents))
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
    """A part of `parts` of which no piece can be left out (delta debugging); all of them break already."""
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


def _about(accident: str) -> str:
    """The order that the accident befell; "" if none in particular."""
    return accident.partition(" ")[0].rstrip(":") if accident.startswith("ord-") else ""
