"""What all parts of a deployment under test share: time, the diary, who runs now, and chance by name.

Every accident of a world has a name, and seed and name decide whether it happens. So no accident depends on another
one: a world without some of them has the rest as before, and a schedule of accidents can be made shorter piece by
piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from stepward.domain.messages import ToScheduler
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.faults.profile import Profile
from stepward.testing.faults.record import Write

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


@dataclass(slots=True)
class Invocation:
    """One run of a function: who runs it, about which order, and for which message; whether it had to wait, its writes.

    An agent's has the deadline of its call, by its own clock. `called_at` is when it called the present port (epoch
    ms), which may be held up. `decided` holds what a Scheduler decided about each message. `release` is the one whose
    code runs, where that is asked.
    """

    instance: str = ""
    about: str = ""
    cause: ToScheduler | None = None
    waited: bool = False
    wrote: list[Write] = field(default_factory=list)
    decided: list[Write] = field(default_factory=list)
    deadline: int | None = None
    called_at: int | None = None
    release: int | None = None


@dataclass(slots=True, repr=False)
class Gate:
    """What all ports share; `here` is the invocation that runs now."""

    loop: Loop
    chances: Chances
    diary: Diary
    profile: Profile
    here: Invocation = field(default_factory=Invocation)

    @contextmanager
    def invocation(self, instance: str, about: str, cause: ToScheduler | None) -> Iterator[Invocation]:
        """Run a function; another may begin while this one waits."""
        outer, self.here = self.here, Invocation(instance, about, cause)
        try:
            yield self.here
        finally:
            self.here = outer
