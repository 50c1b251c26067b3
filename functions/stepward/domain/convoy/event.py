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
    """An event of an order; one that is not valid says so in `fault`, and its lane stops there.

    `body` is its canonical JSON text, `digest` the hash of what counts in it: the ledger that brought it and its
    `index` there do not, so the same event from two ledgers is one. `ledger_id` names the customer, too. `sequence`
    is None if it has none that can be used, `as_of` (epoch ms) None unless its source says how new it is. `content` is
    what was read in the text of one that has an effect beyond its lane; None if it comes from its lane, which keeps the
    text.
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
    content: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """What a lane holds at one place; `passed_over` says why it has no effect, where that is so.

    A place below zero holds an event of which nobody knows where it belongs.
    """

    position: int
    event: OrderEvent
    skipped: str = ""


def sequence_name(position: int) -> str:
    """What people call a place of a lane: its sequence number, or u1, u2 … for an event without a usable one."""
    return str(position) if position > 0 else f"u{-position}"


def position_of(name: str) -> int | None:
    """The place that people call `name`; None if they call none so."""
    unsequenced_event, digits = name.startswith("u"), name.removeprefix("u")
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 10**10:
        return None
    return -int(digits) if unsequenced_event else int(digits)
