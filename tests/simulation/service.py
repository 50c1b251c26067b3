"""A remote service that honours the idempotency key, refuses a stale fence, and misbehaves on demand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from stepward.domain.errors import Permanent
from stepward.domain.workflow import Call
from tests.simulation.faults import Died, nothing

STALE_FENCE = "stale fence"


class Mood(Enum):
    """How the service, or the agent around it, behaves in one call."""

    WORKS = auto()
    FAILS = auto()
    DECLINES = auto()
    BREAKS_AFTER_EFFECT = auto()
    AGENT_DIES_BEFORE_EFFECT = auto()
    AGENT_DIES_AFTER_EFFECT = auto()
    HANGS = auto()


@dataclass(frozen=True, slots=True)
class Called:
    """One call as it began: the effects that were there by then, and whether its attempt had been ended."""

    order_id: str
    step: str
    attempt: int
    results: frozenset[str]
    done_before: frozenset[str]
    freed: bool


@dataclass(slots=True)
class Service:
    """Keeps a ledger: every effect, as (order, step), in order; `moods` says how the next calls go.

    `freed` are the attempts that a Supervisor has ended; `meanwhile` is what others do while a call hangs.
    """

    freed: set[tuple[str, str, int]]
    effects: list[tuple[str, str]] = field(default_factory=list)
    by_key: dict[str, dict[str, Any]] = field(default_factory=dict)
    fences: dict[str, int] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    moods: list[Mood] = field(default_factory=list)
    meanwhile: Callable[[], None] = nothing

    def call(self, step: str, call: Call) -> Mapping[str, Any]:
        """Do `step`, once per key."""
        order_id = str(call.order["orderId"])
        done = frozenset(name for order, name in self.effects if order == order_id)
        freed = (order_id, step, call.attempt) in self.freed
        self.calls.append(Called(order_id, step, call.attempt, frozenset(call.results), done, freed))
        mood = self.moods.pop(0) if self.moods else Mood.WORKS
        self._before(mood)
        result = self._effect(order_id, step, call)
        self._after(mood)
        return result

    def _before(self, mood: Mood) -> None:
        match mood:
            case Mood.FAILS:
                raise OSError("connection refused")
            case Mood.DECLINES:
                raise Permanent("declined")
            case Mood.AGENT_DIES_BEFORE_EFFECT:
                raise Died
            case Mood.HANGS:
                act, self.meanwhile = self.meanwhile, nothing
                act()
            case _:
                pass

    def _effect(self, order_id: str, step: str, call: Call) -> Mapping[str, Any]:
        key = call.idempotency_key
        if call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        if key not in self.by_key:
            self.by_key[key] = {"effect": len(self.effects)}
            self.effects.append((order_id, step))
        return self.by_key[key]

    def _after(self, mood: Mood) -> None:
        if mood is Mood.BREAKS_AFTER_EFFECT:
            raise OSError("connection reset")
        if mood is Mood.AGENT_DIES_AFTER_EFFECT:
            raise Died
