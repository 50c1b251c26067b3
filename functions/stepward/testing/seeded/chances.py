"""Chance by name: every accident of a world has a name, and seed and name decide whether it happens.

So no accident depends on another one: a world without some of them has the rest as before, and a schedule of accidents
can be made shorter piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

CERTAIN = 1 << 64


@dataclass(slots=True)
class Chances:
    """The accidents of one seed; with `only`, no others than these. Once `over`, there are none at all."""

    seed: int
    only: frozenset[str] | None = None
    happened: dict[str, None] = field(default_factory=dict)
    over: bool = False

    def happens(self, name: str, rate: float) -> Random | None:
        """The dice for how it happens, if it does; `rate` is from 0 to 1."""
        if self.over or not rate or (self.only is not None and name not in self.only):
            return None
        first, second = self._drawn(name)
        if first >= rate * CERTAIN:
            return None
        self.happened[name] = None
        return Random(second)  # noqa: S311 - a test wants dice that can be thrown again

    def dice(self, name: str) -> Random:
        """Dice for what is no accident: they stay the same however many accidents are left out."""
        return Random(self._drawn(name)[1])  # noqa: S311 - as above

    def one_of(self, name: str, count: int) -> int:
        """A number below `count`, drawn fast."""
        return self._drawn(name)[0] % count

    def _drawn(self, name: str) -> tuple[int, int]:
        digest = blake2b(f"{self.seed}|{name}".encode(), digest_size=16).digest()
        return int.from_bytes(digest[:8]), int.from_bytes(digest[8:])
