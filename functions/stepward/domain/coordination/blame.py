"""Whose fault a failed call is that the service did not cause: one order's own, or that of the code or a setting.

The same exception in several orders, with no success between, is a defect of the code; a wrong setting is a defect from
its first call. No order is blamed for a defect, and an operator hears of it. An order that fails though others succeed
is no sign of a defect: it is known as failing by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from stepward.domain.coordination.fault import Fault, Origin
from stepward.domain.coordination.shared_record import read_as

SEVERAL = 3
"""Orders that must meet the same exception, with no success between, for it to be a defect."""
MOST_COUNTED = 20
MOST_DEFECTS = 8
MOST_REPORTED = 64
"""Bounds of the record: orders counted per exception, exceptions, attempts that were reported and still run."""
QUIET = 600_000
"""A defect has ended when its operation worked and it did not come back for so many milliseconds."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call of `operation` failed with `fault`; `order` is the order's short hash."""

    order: str
    operation: str
    fault: Fault


@dataclass(frozen=True, slots=True)
class Suspect:
    """One exception of one operation; times are epoch ms.

    `orders` met it since the operation's last success, the first of them at `since`; `known` are those that met it
    although others succeeded, the last time at `worked_at`. `told` says that operators heard of it as a defect.
    """

    operation: str
    name: str
    place: str
    text: str
    is_setting: bool = False
    since: int = 0
    orders: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    worked_at: int = 0
    told: bool = False

    @property
    def is_defect(self) -> bool:
        """Whether the code or a setting is at fault, as of now."""
        return len(self.orders) >= (1 if self.is_setting else SEVERAL)

    @property
    def news_at(self) -> int | None:
        """When operators have to hear that it is a defect, or that it has ended (epoch ms); None if they need not."""
        if self.is_defect and not self.told:
            return self.since
        return self.worked_at + QUIET if self.told and not self.orders else None

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same exception."""
        return self.operation, self.name, self.place

    def met(self, failure: Failure, now: int) -> Suspect:
        """An order met it."""
        known = self.known if now - self.worked_at < QUIET else ()
        if failure.order in (*known, *self.orders) or len(self.orders) >= MOST_COUNTED:
            return self
        text, orders = failure.fault.text, (*self.orders, failure.order)
        return replace(self, text=text, since=self.since or now, orders=orders, known=known)

    def worked(self, now: int) -> Suspect:
        """The operation succeeded, for whichever order: those that failed before do so by themselves."""
        known = (*self.known, *self.orders)[-MOST_COUNTED:]
        return replace(self, since=0, orders=(), known=known, worked_at=now) if self.orders else self


@dataclass(frozen=True, slots=True)
class DefectNews:
    """What an operator has to hear: a defect began at `since`, or, if it is `over`, has ended."""

    suspect: Suspect
    over: bool


@dataclass(frozen=True, slots=True)
class Blame:
    """What the instances of an agent noted of exceptions that are not the service's.

    `reported` has the attempts whose exception the Scheduler was told, each with its complete-by.
    """

    suspects: tuple[Suspect, ...] = ()
    reported: tuple[tuple[str, int], ...] = ()

    def body(self) -> dict[str, Any]:
        """As plain data; empty if there is nothing."""
        return {name: value for name, value in asdict(self).items() if value}

    @staticmethod
    def of(body: Mapping[str, Any]) -> Blame:
        """What `body` wrote; raises KeyError, TypeError or ValueError for anything else."""
        suspects = tuple(_suspect(raw) for raw in body.get("suspects", ()))
        return Blame(suspects, tuple((str(name), int(until)) for name, until in body.get("reported", ())))

    def met(self, failure: Failure, now: int) -> Blame:
        """A call failed with an exception that is not the service's; the newest exceptions are kept."""
        fault = failure.fault
        fresh = Suspect(failure.operation, fault.name, fault.place, fault.text, fault.origin is Origin.SETTING)
        found = next((each for each in self.suspects if each.key == fresh.key), fresh)
        if (after := found.met(failure, now)) is found:
            return self
        others = tuple(each for each in self.suspects if each.key != fresh.key)
        return replace(self, suspects=(*others, after)[-MOST_DEFECTS:])

    def worked(self, operation: str, now: int) -> Blame:
        """A call of the operation succeeded."""
        after = tuple(each.worked(now) if each.operation == operation else each for each in self.suspects)
        return self if after == self.suspects else replace(self, suspects=after)

    def report(self, attempt: str, until: int, now: int) -> Blame:
        """Note that the exception of an attempt is reported; the same if it was, or if too many others are.

        An attempt is forgotten when its complete-by has passed: nobody reports it after that.
        """
        running = tuple(each for each in self.reported if each[1] > now)
        if len(running) >= MOST_REPORTED or any(name == attempt for name, _ in running):
            return self
        return replace(self, reported=(*running, (attempt, until)))

    @property
    def defects(self) -> tuple[Suspect, ...]:
        """The exceptions for which no order is to blame."""
        return tuple(each for each in self.suspects if each.is_defect)

    def news(self, now: int) -> Iterator[DefectNews]:
        """What operators have not heard yet. A defect that ended before anybody heard of it is no news."""
        for each in self.suspects:
            if each.news_at is not None and each.news_at <= now:
                yield DefectNews(each, over=each.told)

    def told(self, key: tuple[str, str, str], *, over: bool) -> Blame:
        """Operators have heard of it; one that is over is forgotten, unless it has come back meanwhile."""
        kept = (each for each in self.suspects if not (over and each.key == key and not each.orders))
        return replace(self, suspects=tuple(replace(e, told=not over) if e.key == key else e for e in kept))


def _suspect(raw: Mapping[str, Any]) -> Suspect:
    lists = {name: tuple(raw[name]) for name in ("orders", "known")}
    return Suspect(**{**read_as(Suspect, raw), **lists})
