"""Guarding: an agent's instances agree on when its service is called, and on when it is left to rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from stepward.app.agent.breakers import Breakers
from stepward.domain.coordination import breaker as rules
from stepward.domain.coordination.breaker import Breaker, Limits, Mode, Permit, Refused
from stepward.domain.errors import Corrupt, StepwardError
from stepward.domain.health import Called, Health
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.ports import Telemetry

REMEMBERED_FOR = 1_000


@dataclass(slots=True)
class Guard:
    """Stands before the service of one agent, in one process; safe under threads.

    It remembers the shared breaker for a second. While the service is well nothing is written. What it cannot read
    or write it tells, and goes by what it remembers: a guard in trouble must not stop the work.
    """

    agent: str
    breakers: Breakers
    telemetry: Telemetry
    limits: Limits
    new_id: Callable[[], str]
    in_flight: int = 0
    _seen: Breaker = field(default_factory=Breaker)
    _seen_at: int | None = None
    _lock: Lock = field(default_factory=Lock)

    def admit(self, now: int, deadline: int) -> Permit | Refused:
        """Whether the service may be called now; a call that is let through will have ended by `deadline`."""
        seen = self._look(now)
        if not rules.may_probe(seen, now):
            return rules.permission(seen, now)
        probe = self.new_id()
        return rules.permission(self._change(now, lambda found: rules.probing(found, now, probe, deadline)), now, probe)

    def succeeded(self, call: Permit, now: int) -> None:
        """The service answered, if only to refuse; nothing is written while the breaker has nothing to forget."""
        if call.probe or self._look(now).failures:
            self._change(now, lambda found: rules.succeeded(found, call, now))
        self._tell_call(call, now, succeeded=True)

    def failed(self, call: Permit, now: int) -> None:
        """The service failed in a way that may pass."""
        if call.probe or self._look(now).mode is Mode.CLOSED:
            self._change(now, lambda found: rules.failed(found, call, now, self.limits))
        self._tell_call(call, now, succeeded=False)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count a request among those that this process works on side by side."""
        with self._lock:
            self.in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1

    def tell(self) -> None:
        """Tell how the service is doing, where it was not called."""
        self.telemetry.health(Health(self.agent, self.in_flight, rules.level(self._seen)))

    def _tell_call(self, call: Permit, now: int, *, succeeded: bool) -> None:
        level = rules.level(self._seen)
        self.telemetry.health(Called(self.agent, self.in_flight, level, max(0, now - call.at), succeeded))

    def _look(self, now: int) -> Breaker:
        """The breaker as it was at most a second ago; one thread reads, the others wait for it."""
        with self._lock:
            if self._seen_at is None or not 0 <= now - self._seen_at < REMEMBERED_FOR:
                self._seen_at = now
                with self._undaunted(now):
                    self._seen = self.breakers.of(self.agent)
            return self._seen

    def _change(self, now: int, decide: Callable[[Breaker], Breaker]) -> Breaker:
        with self._undaunted(now):
            before, after = self.breakers.change(self.agent, decide)
            with self._lock:
                self._seen, self._seen_at = after, now
            if kind := rules.transition(before, after):
                note = f"{after.failures or before.failures} failures in a row" if before.mode is Mode.CLOSED else ""
                self.telemetry.record("", HistoryEntry(now, kind, by=self.agent, note=note))
        return self._seen

    @contextmanager
    def _undaunted(self, now: int) -> Iterator[None]:
        try:
            yield
        except StepwardError as error:
            kind = HistoryKind.CORRUPT if isinstance(error, Corrupt) else HistoryKind.POSTPONED
            self.telemetry.record("", HistoryEntry(now, kind, by=self.agent, note=str(error)))
