"""The breaker's rule, as a pure state machine: when an agent calls its service, and when it leaves it alone.

closed --(orders fail in a row)--> open --(its time is over, one asks)--> half-open --(the probe succeeds)--> closed
The one probe of half-open is claimed until a time of its own, so a prober that died is replaced. If the probe fails,
the breaker is open again, for twice as long. A pause is independent of the mode: only an operator begins and ends it.

It counts distinct orders that met trouble of the service: one order alone, however often it is tried, never opens it.
Any other exception says nothing about the service; `blame` has those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from stepward.domain.coordination.blame import Blame, Failure
from stepward.domain.coordination.fault import Origin
from stepward.domain.coordination.shared_record import read_as
from stepward.domain.errors import Corrupt, known, wrong_with
from stepward.domain.history import HistoryKind

PAUSE_RECHECK = 60_000
"""How long a request waits before it checks whether the pause is over."""
PROBE_RECHECK = 5_000
"""The same for a request that finds another one probing."""
SETTLES_IN = 120_000
"""After this time from closing, two runs of the Supervisor, every returned request has had its turn."""
LONGEST_CALL = 900_000
"""Lambda ends every function after 15 minutes: a prober that has not answered by then is dead."""
MOST_ORDERS = 50
"""How many orders that failed the record names; of more than that, one may count twice."""


class Mode(StrEnum):
    """The state of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


_HISTORY = {
    Mode.CLOSED: HistoryKind.BREAKER_CLOSED,
    Mode.OPEN: HistoryKind.BREAKER_OPENED,
    Mode.HALF_OPEN: HistoryKind.BREAKER_PROBING,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Orders that fail in a row and open a breaker, how long it is open at first, and at the most; in milliseconds."""

    failures: int = 5
    open_for: int = 10_000
    longest: int = 300_000


@dataclass(frozen=True, slots=True)
class AgentPause:
    """An operator's order that an agent must not call its service; `at` is epoch ms."""

    who: str
    why: str
    at: int


@dataclass(frozen=True, slots=True)
class Breaker:
    """The breaker of one agent, as all its instances share it; times are epoch ms.

    `failures` counts the orders that failed since the last success, `orders` has their short hashes.
    `since` is when the mode began, `until` when an open one lets a probe through, or when a probe counts as dead.
    `openings` counts how often it opened in a row, `probe` names the call that tries.
    """

    mode: Mode = Mode.CLOSED
    failures: int = 0
    openings: int = 0
    since: int = 0
    until: int = 0
    probe: str = ""
    pause: AgentPause | None = None
    orders: tuple[str, ...] = ()
    blame: Blame = field(default_factory=Blame)

    def body(self) -> Mapping[str, Any]:
        """As plain data."""
        plain = asdict(self) | {"blame": self.blame.body() or None, "orders": self.orders or None}
        return {name: value for name, value in plain.items() if value is not None}

    @staticmethod
    def of(body: Mapping[str, Any]) -> Breaker:
        """The breaker that `body` wrote; raises Corrupt or NotUnderstood."""
        try:
            pause = AgentPause(**read_as(AgentPause, body["pause"])) if "pause" in body else None
            mode = known(Mode, body["mode"], "a breaker that is")
            orders, blame = tuple(body.get("orders", ())), Blame.of(body.get("blame", {}))
            own = {"mode": mode, "pause": pause, "orders": orders, "blame": blame}
            return Breaker(**{**read_as(Breaker, body), **own})
        except (KeyError, TypeError, ValueError) as error:
            raise Corrupt(f"a breaker: {wrong_with(error)}") from error


@dataclass(frozen=True, slots=True)
class Permit:
    """The service may be called from `at` on, and before `until` if its agent has a rate (epoch ms).

    `probe` is the name of the call if it is the probe.
    """

    at: int
    probe: str = ""
    until: int | None = None

    def holds(self, now: int) -> bool:
        """Whether the call may still begin."""
        return self.until is None or now < self.until


@dataclass(frozen=True, slots=True)
class Refused:
    """The service may not be called for `wait` milliseconds, and why; `others` if only calls of others are why."""

    wait: int
    why: str
    others: bool = False


def permission(breaker: Breaker, now: int, probe: str = "") -> Permit | Refused:
    """Whether the service may be called at `now`, by the call named `probe` or by any other."""
    if breaker.pause is not None:
        return Refused(PAUSE_RECHECK, f"paused by {breaker.pause.who}: {breaker.pause.why}")
    if breaker.mode is Mode.CLOSED:
        return Permit(now)
    if breaker.mode is Mode.HALF_OPEN and probe and probe == breaker.probe:
        return Permit(now, probe)
    wait = max(1, breaker.until - now)
    if breaker.mode is Mode.HALF_OPEN or wait == 1:
        return Refused(min(PROBE_RECHECK, wait), "another call is trying the service")
    return Refused(wait, f"the breaker has been open since {breaker.since}")


def may_probe(breaker: Breaker, now: int) -> bool:
    """Whether it is time for a probe."""
    return breaker.mode is not Mode.CLOSED and breaker.until <= now and breaker.pause is None


def probing(breaker: Breaker, now: int, probe: str, until: int) -> Breaker:
    """Begin the probe of this name, which ends by `until`, if it is time for one."""
    if not may_probe(breaker, now):
        return breaker
    until = min(until, now + LONGEST_CALL)
    return replace(breaker, mode=Mode.HALF_OPEN, since=now, until=until, probe=probe)


def succeeded(breaker: Breaker, call: Permit, now: int, operation: str) -> Breaker:
    """The service answered; only the probe's answer closes a breaker."""
    blame = breaker.blame.worked(operation, now)
    if _probes(breaker, call):
        return Breaker(since=now, pause=breaker.pause, blame=blame)
    if breaker.mode is Mode.CLOSED and breaker.failures:
        return replace(breaker, failures=0, orders=(), blame=blame)
    return breaker if blame is breaker.blame else replace(breaker, blame=blame)


def failed(breaker: Breaker, call: Permit, now: int, limits: Limits, failure: Failure) -> Breaker:
    """A call failed; one that began before the breaker closed does not count against the service.

    Of an exception that is not the service's, the breaker learns nothing: if the probe met one, another probe follows.
    """
    if failure.fault.origin is not Origin.SERVICE:
        return given_up(replace(breaker, blame=breaker.blame.met(failure, now)), call, now)
    if _probes(breaker, call):
        return _opened(breaker, now, limits)
    if breaker.mode is not Mode.CLOSED or call.at < breaker.since or failure.order in breaker.orders:
        return breaker
    orders = (*breaker.orders, failure.order)[-MOST_ORDERS:]
    counted = replace(breaker, failures=breaker.failures + 1, orders=orders)
    return _opened(counted, now, limits) if counted.failures >= limits.failures else counted


def given_up(breaker: Breaker, call: Permit, now: int) -> Breaker:
    """The call that was permitted is not made; if it was the probe, another one may follow at once."""
    return replace(breaker, mode=Mode.OPEN, until=now, probe="") if _probes(breaker, call) else breaker


def paused(breaker: Breaker, pause: AgentPause) -> Breaker:
    """An operator pauses the agent; a pause that is already there stays."""
    return breaker if breaker.pause else replace(breaker, pause=pause)


def resumed(breaker: Breaker, now: int) -> Breaker:
    """An operator ends the pause, and has a breaker that is not closed let a probe through at once.

    Returned requests have their turn as after an open breaker. A probe that is under way may be replaced.
    """
    if breaker.mode is not Mode.CLOSED:
        return replace(breaker, pause=None, until=min(breaker.until, now))
    return replace(breaker, pause=None, since=now) if breaker.pause else breaker


def level(breaker: Breaker) -> int:
    """The breaker as a number for a chart: 0 closed, 1 half-open, 2 open, 3 paused."""
    if breaker.pause is not None:
        return 3
    return {Mode.CLOSED: 0, Mode.HALF_OPEN: 1, Mode.OPEN: 2}[breaker.mode]


def transition(before: Breaker, after: Breaker) -> HistoryKind | None:
    """The history entry of a change; None if the mode and the probe are the same."""
    given_up = before.mode is Mode.HALF_OPEN and after.mode is Mode.OPEN and before.openings == after.openings
    if given_up or (before.mode, before.probe) == (after.mode, after.probe):
        return None
    return _HISTORY[after.mode]


def unavailable(breaker: Breaker, now: int) -> bool:
    """Whether a request would only be returned to its queue."""
    return breaker.pause is not None or (breaker.mode is not Mode.CLOSED and now < breaker.until)


def unsettled(breaker: Breaker, now: int) -> bool:
    """Whether an overdue request may have been returned all along, so that nobody tried it."""
    return breaker.mode is not Mode.CLOSED or now < breaker.since + SETTLES_IN


def _probes(breaker: Breaker, call: Permit) -> bool:
    return breaker.mode is Mode.HALF_OPEN and bool(call.probe) and call.probe == breaker.probe


def _opened(breaker: Breaker, now: int, limits: Limits) -> Breaker:
    open_for = min(limits.longest, limits.open_for << min(breaker.openings, 20))
    return replace(
        breaker,
        mode=Mode.OPEN,
        since=now,
        until=now + open_for,
        openings=breaker.openings + 1,
        probe="",
        failures=0,
        orders=(),
    )
