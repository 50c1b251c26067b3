"""Faults on demand: what a service does wrong, for which orders, and how often."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from stepward.local.services.calls import ServiceCall


class FaultKind(StrEnum):
    """What can go wrong with a call."""

    FAIL = "fail"
    """Answers 503, without an effect."""
    HANG = "hang"
    """Holds the connection for `seconds` without an effect, then drops it."""
    SLOW = "slow"
    """Works, but `seconds` late."""
    DECLINE = "decline"
    """Refuses permanently: 422 with code `declined`."""
    DIE_AFTER_EFFECT = "die_after_effect"
    """Has the effect, then kills the calling process."""
    CUT_AFTER_EFFECT = "cut_after_effect"
    """Has the effect, then resets the connection without an answer."""


EVERYONE = "*"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at `service` for `target`, an order id, a key, or EVERYONE; it happens `times` times, None: always."""

    service: str
    target: str
    kind: FaultKind
    times: int | None = 1
    seconds: float = 60.0

    @staticmethod
    def from_json(raw: Mapping[str, Any]) -> Fault:
        """The fault that a JSON object describes; raises ValueError with the reason."""
        if unknown := sorted(set(raw) - set(Fault.__slots__)):
            raise ValueError(f"unknown: {', '.join(unknown)}")
        if not all(isinstance(raw.get(name), str) and raw[name] for name in ("service", "target")):
            raise ValueError("service and target must be texts")
        if not _is_number(seconds := raw.get("seconds", 60.0)) or not 0 <= seconds <= 3600:
            raise ValueError("seconds must be a number, 0 to 3600")
        times = raw.get("times", 1)
        if times is not None and (not isinstance(times, int) or not _is_number(times) or times < 1):
            raise ValueError("times must be a whole number above 0, or null for always")
        return Fault(raw["service"], raw["target"], FaultKind(str(raw.get("kind"))), times, seconds)

    def concerns(self, call: ServiceCall) -> bool:
        """Whether the fault applies to this call."""
        return call.service == self.service and self.target in {call.order, call.key, EVERYONE}


class Script:
    """The faults that are left; a call gets the first that concerns it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[tuple[Fault, int | None]] = []

    def add(self, fault: Fault) -> None:
        """Add a fault behind the others."""
        with self._lock:
            self._left.append((fault, fault.times))

    def clear(self, service: str = "", target: str = "") -> None:
        """Remove the faults of this target, or those of the service, or all."""
        with self._lock:
            self._left = [
                (fault, left)
                for fault, left in self._left
                if service not in {"", fault.service} or target not in {"", fault.target}
            ]

    @property
    def left(self) -> Sequence[Fault]:
        """The faults to come, each with the times that are left of it."""
        with self._lock:
            return [replace(fault, times=left) for fault, left in self._left]

    def pending(self, service: str, target: str) -> bool:
        """Whether faults of this target are left."""
        with self._lock:
            return any((fault.service, fault.target) == (service, target) for fault, _ in self._left)

    def take(self, call: ServiceCall) -> Fault | None:
        """The fault for this call, counted as used; None if there is none."""
        with self._lock:
            for index, (fault, left) in enumerate(self._left):
                if fault.concerns(call):
                    self._left[index : index + 1] = [] if left == 1 else [(fault, left and left - 1)]
                    return fault
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
