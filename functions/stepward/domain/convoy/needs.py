"""What a decision about a lane needs beyond the lane's own record, and what is known of that so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from stepward.domain.convoy.event import OrderEvent, StoredEvent
from stepward.domain.convoy.lane import Lane

PAGE = 50
MOST_LOOKED_BACK = 1_000
"""Positions among which a repeated entry is looked for; an older one counts as new, and an operator decides."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that its lane rejects; `why` names the field and the reason.

    `message` is the index of the message that brought it, `held_at` the position of one that the lane held itself.
    """

    event: OrderEvent
    why: str
    message: int = 0
    held_at: int = 0


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Read the first `most` rows of the lane from the position `first` on."""

    first: int
    most: int


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """Read `body` as the deployed application does; the answer is an event, with a fault if it is not valid."""

    body: str


@dataclass(frozen=True, slots=True)
class Perform:
    """Perform the effect of `event`; the answer is why it is refused, or empty, or the error that it met.

    That the order is another customer's is an OtherCustomer.
    """

    event: OrderEvent


@dataclass(frozen=True, slots=True)
class KeepRejects:
    """Keep these rejects; nothing that happens later can make the lane accept them."""

    rejections: tuple[Rejection, ...]


Need = ReadRows | ReadEvent | Perform | KeepRejects


class Missing(Exception):
    """Ends a decision that cannot be made yet."""

    def __init__(self, need: Need) -> None:
        super().__init__(need)
        self.need = need


class Known(dict[Need, Any]):
    """The answers to what a decision needs. A need without an answer ends the decision, which begins again with it."""

    def __missing__(self, need: Need) -> NoReturn:
        raise Missing(need)


@dataclass(frozen=True, slots=True)
class Held:
    """What a lane holds: its record, its rows, and the new `rows` and `fresh` events of the change in the making."""

    before: Lane
    known: Known
    rows: dict[int, StoredEvent] = field(default_factory=dict)
    fresh: list[StoredEvent] = field(default_factory=list)

    @property
    def recent(self) -> list[StoredEvent]:
        """The newest events, which have no row."""
        return [*self.before.recent, *self.fresh]

    def at(self, position: int) -> StoredEvent | None:
        """The event at a position; raises Missing."""
        if position in self.rows:
            return self.rows[position]
        inline = (stored for stored in self.recent if stored.position == position)
        return next(inline, None) or next(
            (stored for stored in self.known[ReadRows(position, 1)] if stored.position == position), None
        )

    def has_entry(self, event: OrderEvent, highest: int) -> bool:
        """Whether the entry that brought `event` is among the newest positions; raises Missing."""
        entry, first = (event.ledger_id, event.index), max(1, highest - MOST_LOOKED_BACK)
        held = [*self.rows.values(), *self.recent]
        while not any((stored.event.ledger_id, stored.event.index) == entry for stored in held):
            held = list(self.known[ReadRows(first, PAGE)])
            if not held:
                return False
            first = held[-1].position + 1
        return True
