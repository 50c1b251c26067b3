"""What remote services did and took back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

Slot = tuple[str, str]
"""An order, and who does the step: the idempotency key of an effect, in two parts."""


@dataclass(slots=True)
class Ledger:
    """Effects by their slots: how often each happened and was undone, and since when one stands (epoch ms)."""

    done: Counter[Slot] = field(default_factory=Counter)
    undone: Counter[Slot] = field(default_factory=Counter)
    buried: set[Slot] = field(default_factory=set)
    standing: dict[Slot, int] = field(default_factory=dict)
    of: dict[str, set[str]] = field(default_factory=dict)

    def do(self, effect: Slot, now: int) -> None:
        """An effect happens."""
        self.done[effect] += 1
        self.standing[effect] = now
        self.of.setdefault(effect[0], set()).add(effect[1])

    def undo(self, effect: Slot, now: int) -> None:
        """What stands under the slot at `now` is taken back, and never comes back at an honest service."""
        if self.standing.get(effect, now) <= now and effect in self.standing:
            del self.standing[effect]
            self.undone[effect] += 1
        self.buried.add(effect)

    def standing_of(self, order_id: str) -> set[str]:
        """The effects of an order that stand."""
        return {name for name in self.of.get(order_id, ()) if (order_id, name) in self.standing}
