"""One transaction of one order, as a ledger brings it and the order's lane keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Op(StrEnum):
    """What an event does to its order."""

    CREATE = "create"
    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class OrderEvent:
    """An event of an order; an invalid one says why in `fault`, and blocks its lane. `order_id` is the task's key.

    `body` is its canonical JSON text, `digest` the hash of its content. The ledger that brought it and its `index`
    there do not count, so the same event from two ledgers is one. `ledger_id` names the customer, too. `sequence` is
    None if it is missing or unusable, `as_of` (epoch ms) is None unless its source says how new it is. `content` is the
    parsed text of an arriving event that has an effect beyond its lane; it is None for one that the lane has stored.
    `customer_id` is that of an arriving event, or empty: of its own events the lane knows the customer itself.
    """

    order_id: str
    body: str
    digest: str
    op: Op | None = None
    sequence: int | None = None
    modifies: int | None = None
    end: bool = False
    as_of: int | None = None
    ledger_id: str = ""
    index: int = 0
    fault: str = ""
    customer_id: str = field(default="", compare=False)
    content: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """What a lane holds at one position; `skipped` says why it has no effect, and is empty if it has one.

    A position below zero holds an unsequenced event.
    """

    position: int
    event: OrderEvent
    skipped: str = ""


def sequence_name(position: int) -> str:
    """What people call a position: its sequence number, or u1, u2 … for an unsequenced event."""
    return str(position) if position > 0 else f"u{-position}"


def position_of(name: str) -> int | None:
    """The position that people call `name`; None if they call none so."""
    unsequenced_event, digits = name.startswith("u"), name.removeprefix("u")
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 10**10:
        return None
    return -int(digits) if unsequenced_event else int(digits)
