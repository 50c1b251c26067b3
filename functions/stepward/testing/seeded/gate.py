"""Every call of a port goes through the gate, and may go wrong there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import TypeVar

from stepward.domain.errors import Transient
from stepward.domain.messages import ToScheduler
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.loop import Loop
from stepward.testing.faults.record import Died, Write
from stepward.testing.seeded.chances import Chances
from stepward.testing.seeded.profile import PAUSES, Mishap, Profile

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Invocation:
    """One run of a function: who runs it, about which order, and for which message; whether it had to wait, its writes.

    An agent's has the deadline of its call, by its own clock.
    """

    instance: str = ""
    about: str = ""
    cause: ToScheduler | None = None
    waited: bool = False
    wrote: list[Write] = field(default_factory=list)
    deadline: int | None = None


@dataclass(slots=True)
class Gate:
    """What all ports of a world share; `here` is the invocation that runs now."""

    loop: Loop
    chances: Chances
    diary: Diary
    profile: Profile
    here: Invocation = field(default_factory=Invocation)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    write_ids: dict[str, int] = field(default_factory=dict)
    new_ids: Iterator[int] = field(default_factory=count)

    @contextmanager
    def invocation(self, instance: str, about: str, cause: ToScheduler | None) -> Iterator[Invocation]:
        """Run a function; another may begin while this one waits."""
        outer, self.here = self.here, Invocation(instance, about, cause)
        try:
            yield self.here
        finally:
            self.here = outer

    def through(
        self,
        site: str,
        act: Callable[[], Answer],
        *,
        about: str = "",
        again: Callable[[], Answer] | None = None,
        partly: Callable[[], object] | None = None,
    ) -> Answer:
        """Call a port. `again` is the call as an SDK repeats it after a lost answer, `partly` its half-way form."""
        about = about or self.here.about
        self.diary.counts["port calls"] += 1
        self.calls[about, site] += 1
        happens = self._mishap(site, about)
        if happens is None:
            return act()
        mishap, dice = happens
        self.diary.counts[mishap] += 1
        self.diary.note(about, f"{self.here.instance} {mishap} {site}")
        return self._go_wrong(mishap, dice, act, again or act, partly or act)

    def _mishap(self, site: str, about: str) -> tuple[Mishap, Random] | None:
        """What goes wrong at a call, and the dice for how, if anything does."""
        dice = self.chances.happens(f"{about}: {site} #{self.calls[about, site]}", self.profile.ports)
        return (Mishap(self.profile.pick(dice, self.profile.mishaps)), dice) if dice else None

    def write(
        self,
        site: str,
        name: str,
        put: Callable[[], bool],
        *,
        about: str = "",
        partly: Callable[[], object] | None = None,
    ) -> bool:
        """Call a conditional write of the record `name`; one that is repeated knows its own first write by its id."""
        write_id = next(self.new_ids)

        def marked() -> bool:
            saved = put()
            if saved:
                self.write_ids[name] = write_id
            return saved

        def again() -> bool:
            return marked() or self.write_ids.get(name) == write_id

        return self.through(site, marked, about=about, again=again, partly=partly)

    def _go_wrong(
        self,
        mishap: Mishap,
        dice: Random,
        act: Callable[[], Answer],
        again: Callable[[], Answer],
        partly: Callable[[], object],
    ) -> Answer:
        match mishap:
            case Mishap.DIES_BEFORE:
                raise Died
            case Mishap.THROTTLED:
                raise Transient("throttled")
            case Mishap.PAUSES_BEFORE:
                self.wait(dice.choice(PAUSES))
                return act()
            case Mishap.PARTLY:
                partly()
                raise Transient("not all was taken")
            case _:
                return self._go_wrong_after(mishap, dice, act(), again)

    def _go_wrong_after(self, mishap: Mishap, dice: Random, answer: Answer, again: Callable[[], Answer]) -> Answer:
        match mishap:
            case Mishap.DIES_AFTER:
                raise Died
            case Mishap.LOSES_ANSWER:
                raise Transient("the answer was lost")
            case Mishap.REPEATS:
                self.wait(dice.choice(PAUSES[:4]))
                return again()
            case _:
                self.wait(dice.choice(PAUSES))
                return answer

    def wait(self, milliseconds: int) -> None:
        """Let the present invocation wait while others run."""
        self.here.waited = True
        self.loop.pass_time(milliseconds)
