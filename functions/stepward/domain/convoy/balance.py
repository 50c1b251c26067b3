"""An order's balance: what its applied events, folded in sequence, come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent

Details = Mapping[str, Any]
"""What an event says beyond its position in the lane."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """What the event at `position` said of a transaction."""

    position: int
    details: Details


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction with its history: what created or added it, then each change, oldest first."""

    history: tuple[Amendment, ...]

    @property
    def position(self) -> int:
        """The position of the event that began it, by which later events name it."""
        return self.history[0].position

    @property
    def details(self) -> Details:
        """Its present fields: those that a change names replace the earlier ones, the others stay."""
        merged: dict[str, Any] = {}
        for change in self.history:
            merged.update(change.details)
        return merged


@dataclass(frozen=True, slots=True)
class Balance:
    """What an order's events come to.

    `order` is the create with its changes, None before it; `additions` are the other transactions, by position.
    `cancelled` is the position of the cancellation and `ended` that of the last event there will be, 0 before.
    `skipped` are the events that have no effect: an operator skipped them, or they are superseded.
    """

    order: Transaction | None = None
    additions: Mapping[int, Transaction] = field(default_factory=lambda: MappingProxyType({}))
    cancelled: int = 0
    ended: int = 0
    skipped: tuple[StoredEvent, ...] = ()


def balance_of(events: Iterable[StoredEvent], details: Callable[[OrderEvent], Details]) -> Balance:
    """The balance of `events`, all applied or skipped and in the order of their positions."""
    book = _Book(details)
    for stored in events:
        book.enter(stored)
    return book.balance()


@dataclass(slots=True)
class _Book:
    """The balance in the making; `histories` are the order's own and those of the additions, by position."""

    details: Callable[[OrderEvent], Details]
    created: int = 0
    cancelled: int = 0
    ended: int = 0
    histories: dict[int, list[Amendment]] = field(default_factory=dict)
    skipped: list[StoredEvent] = field(default_factory=list)

    def enter(self, stored: StoredEvent) -> None:
        event, position = stored.event, stored.position
        if stored.skipped:
            self.skipped.append(stored)
            return
        match event.op:
            case Op.DELETE:
                self.cancelled = position
            case Op.MODIFY:
                self.histories[event.modifies or 0].append(Amendment(position, self.details(event)))
            case _:
                self.histories[position] = [Amendment(position, self.details(event))]
                self.created = position if event.op is Op.CREATE else self.created
        self.ended = position if event.end else self.ended

    def balance(self) -> Balance:
        transactions = {position: Transaction(tuple(history)) for position, history in self.histories.items()}
        order = transactions.pop(self.created, None)
        return Balance(order, MappingProxyType(transactions), self.cancelled, self.ended, tuple(self.skipped))
