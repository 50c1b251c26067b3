"""A remote service that honours the idempotency key, refuses a stale fence, and misbehaves on demand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from stepward.domain.errors import Permanent
from stepward.domain.plan import UNDO_SUFFIX, forward_name
from stepward.domain.workflow import Call
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.record import Died, Effects
from tests.simulation.faults import nothing


def record_of(slot: str) -> str:
    """The name of the step record whose attempts have this key."""
    return slot if slot.endswith(UNDO_SUFFIX) else forward_name(slot)


class Mood(Enum):
    """How the service, or the agent around it, behaves in one call."""

    WORKS = auto()
    FAILS = auto()
    DECLINES = auto()
    BREAKS_AFTER_EFFECT = auto()
    AGENT_DIES_BEFORE_EFFECT = auto()
    AGENT_DIES_AFTER_EFFECT = auto()
    HANGS = auto()


@dataclass(slots=True)
class Service:
    """Keeps a ledger: every effect, as (order, slot), in order, and every undo of one; `moods` says how calls go.

    The contract: an undo of what never happened succeeds, and what was undone is refused when it comes late.
    `freed` are the attempts that a Supervisor has ended; `meanwhile` is what others do while a call hangs.
    """

    freed: set[tuple[str, str, int]]
    effects: Effects = field(default_factory=Effects)
    by_key: dict[str, dict[str, Any]] = field(default_factory=dict)
    fences: dict[str, int] = field(default_factory=dict)
    moods: list[Mood] = field(default_factory=list)
    meanwhile: Callable[[], None] = nothing

    def call(self, call: Call) -> Mapping[str, Any]:
        """Do it, or undo it, once per key."""
        order_id = str(call.order["orderId"])
        slot = call.idempotency_key.removeprefix(f"{order_id}/")
        freed = (order_id, record_of(slot), call.attempt) in self.freed
        self.effects.begin(order_id, slot, call.attempt, call.results, freed=freed)
        mood = self.moods.pop(0) if self.moods else Mood.WORKS
        self._before(mood)
        result = self._effect(order_id, slot, call)
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

    def _effect(self, order_id: str, slot: str, call: Call) -> Mapping[str, Any]:
        key = call.idempotency_key
        if call.fence < self.fences.get(key, 0):
            raise Permanent(STALE_FENCE)
        self.fences[key] = call.fence
        if slot.endswith(UNDO_SUFFIX):
            self.effects.undo((order_id, slot.removesuffix(UNDO_SUFFIX)))
            return {}
        if (order_id, slot) in self.effects.buried:
            raise Permanent(BURIED)
        if key not in self.by_key:
            self.by_key[key] = {"effect": len(self.effects.done)}
            self.effects.done.append((order_id, slot))
        return self.by_key[key]

    def _after(self, mood: Mood) -> None:
        if mood is Mood.BREAKS_AFTER_EFFECT:
            raise OSError("connection reset")
        if mood is Mood.AGENT_DIES_AFTER_EFFECT:
            raise Died
