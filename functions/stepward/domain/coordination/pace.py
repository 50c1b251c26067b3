"""The pace of an agent: the slots in which its instances may call, so that together they keep its service's limit.

Slots follow each other at the rate, and each belongs to one call. An instance takes a grant with one write: a slot for
each call that it has to make now, and those of a tenth of a second at most. A slot lapses after the time of a whole
grant. So no second sees more calls than the rate and one grant, as far as the instances' clocks agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

PATIENCE = 200
"""Milliseconds that an instance waits for its grant, which is billed; its queue does any longer waiting."""
SKEW = 5_000
"""Milliseconds by which the clocks of two instances may differ."""
_SECOND = 1_000_000  # slots are in microseconds: several may lie in a millisecond


def grant(rate: float) -> int:
    """How many slots one write takes at most: a tenth of a second's."""
    return max(1, int(rate // 10))


@dataclass(frozen=True, slots=True)
class Slot:
    """A call may begin from `at` until just before `until` (epoch ms)."""

    at: int
    until: int


@dataclass(frozen=True, slots=True)
class Grant:
    """The slots that an instance has left, from `first` to before `end`, so far `apart`; each lapses after `life`."""

    first: int = 0
    end: int = 0
    apart: int = 1
    life: int = 0

    def next(self, now: int) -> tuple[Slot | None, Grant]:
        """The next slot that has not lapsed at `now`, if there is one, and what is left then."""
        for first in range(self.first, self.end, self.apart):
            slot = Slot(-(-first // 1_000), (first + self.life) // 1_000)
            if now < slot.until:
                return slot, replace(self, first=first + self.apart)
        return None, Grant()


@dataclass(frozen=True, slots=True)
class Pace:
    """The next free slot, in epoch microseconds, as all instances of an agent share it."""

    free: int = 0

    def body(self) -> dict[str, Any]:
        """As plain data."""
        return {"free": self.free}

    @staticmethod
    def of(body: Mapping[str, Any]) -> Pace:
        """The pace that `body` wrote; anything else is a free one, so a corrupt record holds nobody up."""
        free = body.get("free")
        return Pace(free) if isinstance(free, int) else Pace()

    def taken(self, rate: float, now: int, wanted: int = 1) -> tuple[Pace, Grant]:
        """The pace with one grant more, and that grant; the same pace if its first slot is too far ahead to wait for.

        More slots than are `wanted` would lapse unused. A slot that is further ahead than anybody takes one comes from
        a wrong clock, and counts as free.
        """
        apart = ceil(_SECOND / rate)
        life = apart * grant(rate)
        farthest = (now + PATIENCE + SKEW) * 1_000 + life
        first = now * 1_000 if self.free > farthest else max(self.free, now * 1_000)
        end = first + apart * min(wanted, grant(rate))
        return (self if first > (now + PATIENCE) * 1_000 else Pace(end)), Grant(first, end, apart, life)
