"""Every call that goes out through a port, in order, and the calls at which something goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar, cast

from stepward.domain.errors import Transient
from stepward.testing.faults.record import Died

Port = TypeVar("Port")
Fault = Callable[[str], Exception]


class Kind(StrEnum):
    """What happens at one call."""

    DIES_BEFORE = "dies before"
    DIES_AFTER = "dies after"
    FAILS = "fails"
    ANSWER_LOST = "answer lost"
    HALF_SENT = "half sent"
    HELD_UP_BEFORE = "held up before"
    HELD_UP_AFTER = "held up after"
    REPEATED = "repeated, after a lost answer"
    SUPERSEDED = "superseded"


DEATHS = (Kind.DIES_BEFORE, Kind.DIES_AFTER)
OF_EVERY_CALL = (*DEATHS, Kind.FAILS, Kind.ANSWER_LOST)


@dataclass(frozen=True, slots=True)
class Point:
    """The call of this number, from 1, and what happens at it."""

    call: int
    kind: Kind

    def __str__(self) -> str:
        """As `Point.of` reads it."""
        return f"{self.call} {self.kind}"

    @staticmethod
    def of(text: str) -> Point:
        """What `str` wrote, such as `12 dies before`."""
        call, _, kind = text.strip().partition(" ")
        return Point(int(call), Kind(kind))


@dataclass(slots=True)
class Kill:
    """What happens at the `call`-th call from now on that a process of `part` makes, or anybody if that is empty.

    Only calls whose name ends with `at`, or one of them, count. `meanwhile` is what others do before a call that is
    superseded.
    """

    part: str
    call: int
    kind: Kind
    at: str | tuple[str, ...] = ""
    meanwhile: Callable[[], object] = lambda: None


@dataclass(slots=True)
class Pulse:
    """Counts the calls of one world; the process that makes the call of a point dies, or is not answered.

    `hits` counts the calls at which something went wrong. `timeline` has a line for each call, and for each note of the
    world. `several` are the calls that send more than one message, of which the first alone may get out. `who` makes
    calls at present.
    """

    points: Mapping[int, Kind] = field(default_factory=dict)
    calls: int = 0
    hits: int = 0
    deaths: int = 0
    several: set[int] = field(default_factory=set)
    timeline: list[str] = field(default_factory=list)
    now: Callable[[], str] = str
    who: tuple[str, ...] = ()
    kills: list[Kill] = field(default_factory=list)

    @staticmethod
    def at(*points: Point) -> Pulse:
        """One that goes wrong at these points."""
        return Pulse({point.call: point.kind for point in points})

    def tap(self, port: Port, name: str, fault: Fault = Transient) -> Port:
        """The port, with each of its calls counted; `fault` makes what it raises when it fails."""
        return cast("Port", _Tap(port, name, self, fault))

    def pass_on(
        self, name: str, args: Sequence[Any], do: Callable[[], Any], fault: Fault, half: Callable[[], Any] | None
    ) -> Any:
        """One call, and what becomes of it; `half` does it for the first of several messages."""
        what = f"{name}{_named(args)}"
        self.calls += 1
        number = self.calls
        kind = self.points.get(number) or self._killed(name)
        self.note(f"{number:>4}  {what}" + (f"  <- {kind}" if kind else ""))
        self.hits += kind is not None
        if half is not None:
            self.several.add(number)
        return self.go_wrong(kind, do, partial(fault, f"{name}: {kind}"), half or do)

    def go_wrong(
        self,
        kind: Kind | None,
        do: Callable[[], Any],
        fault: Callable[[], Exception],
        half: Callable[[], Any],
        hold_up: Callable[[], object] = lambda: None,
    ) -> Any:
        """Make the call, and have this happen at it; `hold_up` lets time pass."""
        if kind is Kind.HELD_UP_BEFORE:
            hold_up()
        self._stop(kind, Kind.DIES_BEFORE, Kind.FAILS, fault)
        if kind is Kind.HALF_SENT:
            half()
            raise fault()
        answer = do()
        self._stop(kind, Kind.DIES_AFTER, Kind.ANSWER_LOST, fault)
        if kind in (Kind.HELD_UP_AFTER, Kind.REPEATED):
            hold_up()
        return do() if kind is Kind.REPEATED else answer

    def note(self, line: str) -> None:
        """A line of the timeline."""
        self.timeline.append(f"{self.now()}  {line}")

    def _killed(self, name: str) -> Kind | None:
        """What the first kill that is meant for this call makes of it."""
        kill = next((kill for kill in self.kills if kill.part in ("", *self.who) and name.endswith(kill.at)), None)
        if kill is None:
            return None
        kill.call -= 1
        if kill.call > 0:
            return None
        self.kills.remove(kill)
        kill.meanwhile()
        return kill.kind

    def _stop(self, kind: Kind | None, death: Kind, failure: Kind, fault: Callable[[], Exception]) -> None:
        if kind is death:
            self.deaths += 1
            raise Died
        if kind is failure:
            raise fault()


class _Tap:
    """A port whose calls are counted; attributes that are no calls pass through."""

    def __init__(self, inner: Any, name: str, pulse: Pulse, fault: Fault) -> None:
        self._inner, self._name, self._pulse, self._fault = inner, name, pulse, fault

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._inner, attribute)
        if not callable(found):
            return found

        def counted(*args: Any, **kwargs: Any) -> Any:
            if _asks_nothing(args):
                return found(*args, **kwargs)
            several = args and isinstance(args[0], list | tuple) and len(args[0]) > 1
            half = partial(found, args[0][:1], *args[1:], **kwargs) if several else None
            if half_of is not None:
                half = partial(half_of, *args, **kwargs)
            call = partial(_at_once, found, *args, **kwargs)
            return self._pulse.pass_on(name, args, call, self._fault, half)

        name, half_of = f"{self._name}.{attribute}", getattr(self._inner, f"half_of_{attribute}", None)
        setattr(self, attribute, counted)
        return counted


def _at_once(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make the call now, even if what it answers would be read later."""
    answer = call(*args, **kwargs)
    return iter(list(answer)) if isinstance(answer, Iterator) else answer


def _asks_nothing(args: Sequence[Any]) -> bool:
    """Whether a call sends nothing: the adapters make no call of it."""
    return bool(args) and isinstance(args[0], Sized) and not isinstance(args[0], str | dict) and not args[0]


def _named(args: Sequence[Any]) -> str:
    """What the call is about, in a few words."""
    if not args:
        return ""
    messages = args[0] if isinstance(args[0], list | tuple) else [args[0]]
    names = (message if isinstance(message, str | int) else _name(message) for message in messages)
    return f"({', '.join(map(str, names))})"


def _name(message: Any) -> str:
    parts = (getattr(message, part, "") for part in ("name", "step", "operation", "status", "outcome"))
    return " ".join([type(message).__name__, *(str(part) for part in parts if part)])
