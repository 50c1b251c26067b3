"""What remote services did and undid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

Effect = tuple[str, str]
"""An order and the effect's name: the idempotency key in two parts."""


@dataclass(slots=True)
class Ledger:
    """How often each effect happened and was undone; `remaining` says since when one is not undone (epoch ms)."""

    done: Counter[Effect] = field(default_factory=Counter)
    undone: Counter[Effect] = field(default_factory=Counter)
    buried: set[Effect] = field(default_factory=set)
    remaining: dict[Effect, int] = field(default_factory=dict)
    of: dict[str, set[str]] = field(default_factory=dict)

    def do(self, effect: Effect, now: int) -> None:
        """An effect happens."""
        self.done[effect] += 1
        self.remaining[effect] = now
        self.of.setdefault(effect[0], set()).add(effect[1])

    def undo(self, effect: Effect, now: int) -> None:
        """Undo an effect that happened by `now`; at an honest service it never happens again."""
        if self.remaining.get(effect, now) <= now and effect in self.remaining:
            del self.remaining[effect]
            self.undone[effect] += 1
        self.buried.add(effect)

    def remaining_of(self, order_id: str) -> set[str]:
        """The effects of an order that are not undone."""
        return {name for name in self.of.get(order_id, ()) if (order_id, name) in self.remaining}
