"""The way to every port: a process may die there, and a call may fail before it counts or after it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeVar, cast

from stepward.domain.errors import Transient
from stepward.testing.faults.record import Died

T = TypeVar("T")


class Fault(Enum):
    """What becomes of one call."""

    DIES_BEFORE = auto()
    DIES_AFTER = auto()
    FAILS = auto()
    ANSWER_LOST = auto()
    SUPERSEDED = auto()


@dataclass(slots=True)
class Gate:
    """Lets calls through until `after` more have passed; then `fault` happens, once.

    `at` names the only calls that count, if not all do. `somebody` is what others do in the meantime, if that is the
    fault. `passed` names each call that went through.
    """

    fault: Fault | None = None
    after: int = 0
    somebody: Callable[[], object] = lambda: None
    at: str = ""
    passed: list[str] = field(default_factory=list)
    hit: int = 0

    def arm(self, fault: Fault, after: int = 0, somebody: Callable[[], object] = lambda: None, at: str = "") -> None:
        """Have that happen after so many calls."""
        self.fault, self.after, self.somebody, self.at = fault, after, somebody, at

    def calm(self) -> None:
        """All goes well from here on."""
        self.fault = None

    def through(self, name: str, call: Callable[[], Any]) -> Any:
        """Make the call, with what happens to it."""
        fault = self._next(name)
        if fault is Fault.SUPERSEDED:
            self.somebody()
        if fault is Fault.DIES_BEFORE:
            raise Died
        if fault is Fault.FAILS:
            raise Transient(f"{name} failed")
        answer = call()
        self.passed.append(name)
        if fault is Fault.DIES_AFTER:
            raise Died
        if fault is Fault.ANSWER_LOST:
            raise Transient(f"the answer of {name} was lost")
        return answer

    def _next(self, name: str) -> Fault | None:
        if self.fault is None or not name.endswith(self.at):
            return None
        self.after -= 1
        if self.after >= 0:
            return None
        fault, self.fault = self.fault, None
        self.hit += 1
        return fault


@dataclass(frozen=True, slots=True)
class _Guarded:
    port: Any
    gate: Gate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.port, name)
        if not callable(found):
            return found
        full = f"{type(self.port).__name__}.{name}"
        return lambda *given, **named: self.gate.through(full, lambda: found(*given, **named))


def guarded(port: T, gate: Gate) -> T:
    """The port behind the gate."""
    return cast("T", _Guarded(port, gate))
