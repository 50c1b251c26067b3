"""The guard of a service: an agent's instances agree on when it is called, and when it is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination import breaker as rules
from stepward.domain.coordination.blame import Failure
from stepward.domain.coordination.breaker import Breaker, Limits, Mode, Permit, Refused
from stepward.domain.errors import StepwardError
from stepward.domain.health import Called, Health
from stepward.domain.history import HistoryEntry, trouble
from stepward.ports import Telemetry

if TYPE_CHECKING:  # few agents have a rate
    from stepward.app.agent.pacer import Pacer

REMEMBERED_FOR = 1_000
READ_WITHIN = 20_000
"""Milliseconds that a read of the record takes at most, with all its repetitions."""
UNPACED_FOR = 5_000
"""Milliseconds after which the record of the rate is tried again if it cannot be read or written."""


@dataclass(slots=True)
class Guard:
    """Guards the service of one agent, in one process; safe under threads.

    It remembers the shared breaker for a second, and writes nothing while the service is healthy. If it can neither
    read nor write the breaker, it logs that and goes by the one it remembers: it must not stop the work. `pacer` has
    the slots of an agent with a rate: without one, nobody calls.
    """

    agent: str
    breakers: Breakers
    telemetry: Telemetry
    limits: Limits
    new_id: Callable[[], str]
    pacer: Pacer | None = None
    in_flight: int = 0
    _seen: Breaker = field(default_factory=Breaker)
    _seen_at: int | None = None
    _lock: Lock = field(default_factory=Lock)
    """Held while the fields change, and during no call."""
    _reading: Lock = field(default_factory=Lock)
    """Held by the one thread that reads the breaker."""

    def admit(self, now: int, deadline: int) -> Permit | Refused:
        """Whether the service may be called now, or in its slot; a call that is permitted ends by `deadline`."""
        permit = self._permission(now, deadline)
        if self.pacer is None or isinstance(permit, Refused):
            return permit
        wait = UNPACED_FOR
        with self._tolerated(now):
            slot = self.pacer.slot(now)
            if not isinstance(slot, int) and slot.at < deadline:
                return replace(permit, at=slot.at, until=slot.until)
            wait = slot if isinstance(slot, int) else slot.at - now
        self.give_up(permit, now)
        return Refused(wait, f"its rate of {self.pacer.rate:g} calls a second is used up", others=True)

    def give_up(self, permit: Permit, now: int) -> None:
        """The call is not made after all; nothing is written unless it was the probe."""
        if permit.probe:
            self._change(now, lambda found: rules.given_up(found, permit, now))

    def _permission(self, now: int, deadline: int) -> Permit | Refused:
        seen = self._breaker(now)
        if not rules.may_probe(seen, now):
            return rules.permission(seen, now)
        probe = self.new_id()
        _, claimed = self._change(now, lambda found: rules.probing(found, now, probe, deadline))
        return rules.permission(claimed, now, probe)

    def succeeded(self, call: Permit, now: int, operation: str) -> None:
        """The service answered, if only to refuse; nothing is written while the breaker knows of no failure."""
        self._note(call, now, lambda found: rules.succeeded(found, call, now, operation))
        self._report_call(call, now, succeeded=True)

    def failed(self, call: Permit, now: int, failure: Failure) -> None:
        """A call failed; nothing is written of an order that is known to fail."""
        self._note(call, now, lambda found: rules.failed(found, call, now, self.limits, failure))
        self._report_call(call, now, succeeded=False)

    def may_report(self, attempt: str, until: int, now: int) -> bool:
        """Whether the caller is the one to report this attempt's exception: no more than one does.

        Nobody does if the shared record cannot be written.
        """

        def decide(found: Breaker) -> Breaker:
            return replace(found, blame=found.blame.report(attempt, until, now))

        if (seen := self._breaker(now)) == decide(seen):
            return False
        before, after = self._change(now, decide)
        return before != after

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count a request among those that this process serves."""
        with self._lock:
            self.in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1

    def report(self) -> None:
        """Report the health of the service without a call."""
        self.telemetry.health(Health(self.agent, self.in_flight, rules.level(self._seen)))

    def _report_call(self, call: Permit, now: int, *, succeeded: bool) -> None:
        level = rules.level(self._seen)
        self.telemetry.health(Called(self.agent, self.in_flight, level, max(0, now - call.at), succeeded))

    def _breaker(self, now: int) -> Breaker:
        """The breaker as it was at most a second ago, or as this process knows it while one thread reads it anew.

        The others wait for that thread only if nobody has read it for longer than a read can take, as in a new process.
        """
        read_at = self._seen_at
        age = READ_WITHIN if read_at is None else abs(now - read_at)
        if age >= REMEMBERED_FOR and self._reading.acquire(blocking=age >= READ_WITHIN):
            try:
                if self._seen_at == read_at:
                    self._read(now)
            finally:
                self._reading.release()
        return self._seen

    def _read(self, now: int) -> None:
        """Read the breaker; what this process wrote meanwhile is newer."""
        known = found = self._seen
        with self._tolerated(now):
            found = self.breakers.of(self.agent)
        with self._lock:
            if self._seen is known:
                self._seen, self._seen_at = found, now

    def _note(self, call: Permit, now: int, decide: Callable[[Breaker], Breaker]) -> None:
        """Write what a call showed, unless this process knows that it is no news."""
        seen = self._breaker(now)
        if call.probe or decide(seen) != seen:
            self._change(now, decide)

    def _change(self, now: int, decide: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """The shared breaker before and after; the same twice if it could not be written."""
        before = after = self._seen
        with self._tolerated(now):
            before, after = self.breakers.change(self.agent, decide)
            with self._lock:
                self._seen, self._seen_at = after, now
            if kind := rules.transition(before, after):
                note = f"{before.failures + 1} orders failed in a row" if before.mode is Mode.CLOSED else ""
                self.telemetry.record("", HistoryEntry(now, kind, by=self.agent, note=note))
        return before, after

    @contextmanager
    def _tolerated(self, now: int) -> Iterator[None]:
        """Log an error of the shared record, and go on."""
        try:
            yield
        except StepwardError as error:
            self.telemetry.record("", HistoryEntry(now, trouble(error), by=self.agent, note=str(error)))
