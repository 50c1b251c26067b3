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
    histories: dict[int, list[Amendment]] = {}
    skipped: list[StoredEvent] = []
    created = cancelled = ended = 0
    for stored in events:
        event, position = stored.event, stored.position
        if stored.skipped:
            skipped.append(stored)
            continue
        match event.op:
            case Op.DELETE:
                cancelled = position
            case Op.MODIFY:
                histories[event.modifies or 0].append(Amendment(position, details(event)))
            case _:
                histories[position] = [Amendment(position, details(event))]
                created = position if event.op is Op.CREATE else created
        ended = position if event.end else ended
    transactions = {position: Transaction(tuple(history)) for position, history in histories.items()}
    order = transactions.pop(created, None)
    return Balance(order, MappingProxyType(transactions), cancelled, ended, tuple(skipped))
