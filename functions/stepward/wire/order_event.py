"""Order events: how the text of one becomes an event of its order's lane, valid or not, and back."""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeGuard

import msgspec

from stepward.domain.convoy.event import Op, OrderEvent
from stepward.domain.errors import Corrupt, Rejected
from stepward.wire import strict_json
from stepward.wire.checked_text import BODY, check, cleaned
from stepward.wire.conversion import converted
from stepward.wire.order import MAX_ORDER_BYTES, OrderId, ShortText, Timestamp

HIGHEST_SEQUENCE = 999_999_999
LONGEST_FAULT = 400
LONGEST_BEGINNING = 1000

Sequence_ = Annotated[int, msgspec.Meta(ge=1, le=HIGHEST_SEQUENCE)]
Index = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_SEQUENCE)]

Source = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Turns the event of one kind of shop into ours; None if it is of another kind. Raises Rejected."""

BROUGHT_BY = ("ledgerId", "index", "customerId")
"""The fields that say how an event came, not what it says."""
_HAVE_EFFECTS = frozenset({"create", "delete"})
_OF_THE_LANE = frozenset({"op", "sequence", "modifies", "end", "asOf", *BROUGHT_BY})


class EventMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What every order event says; an application adds its own fields in a subclass.

    Fields that the class does not name are kept with the event.
    """

    order_id: OrderId
    op: Literal["create", "add", "modify", "delete"]
    sequence: Sequence_ | None = None
    modifies: Sequence_ | None = None
    end: bool | None = None
    as_of: Timestamp | None = None
    ledger_id: ShortText | None = None
    index: Index | None = None
    customer_id: ShortText | None = None


class _Addressed(msgspec.Struct, frozen=True, rename="camel"):
    order_id: OrderId


def adapted(content: Mapping[str, Any], sources: Sequence[Source]) -> Mapping[str, Any]:
    """`content` as our own event, by the first source that knows its shape; itself if none does. Raises Rejected."""
    return next((event for source in sources if (event := source(content)) is not None), content)


def ledger_name(customer_id: object, ledger_id: object) -> str:
    """The one name of a ledger among those of all customers; empty if there is none. No id holds the bar."""
    if not isinstance(ledger_id, str):
        return ""
    return f"{customer_id}|{ledger_id}" if isinstance(customer_id, str) else ledger_id


def addressee(content: object) -> str:
    """The order that an event is for; raises Rejected if it names none that can be."""
    # Whatever else is wrong with an event, it belongs to the order that it names.
    named = {key: content[key] for key in ("orderId",) if key in content} if isinstance(content, Mapping) else content
    return converted(named, _Addressed).order_id


def event_of(content: Mapping[str, Any], schema: type[EventMessage] = EventMessage) -> OrderEvent:
    """The event in `content`; one that is not valid is an event with a fault. Raises Rejected without an order id."""
    order_id = addressee(content)
    try:
        return _valid(order_id, content, schema)
    except Rejected:
        kept = _as_kept(content)
    try:
        return _valid(order_id, kept, schema)
    except Rejected as fault:
        return _faulty(order_id, kept, fault)


def _as_kept(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the lane will read in the text that it keeps; `content` itself if it has no such text."""
    try:
        check(content)
    except Rejected:
        return content
    kept: Mapping[str, Any] = strict_json.as_read(content)
    return kept


def _valid(order_id: str, content: Mapping[str, Any], schema: type[EventMessage]) -> OrderEvent:
    """The event in `content`; raises Rejected."""
    if isinstance(invalid := content.get("invalid"), str):
        raise Rejected(*_split(invalid))
    body = strict_json.canonical(content)
    message = converted(content, schema)
    _check(message, body)
    return OrderEvent(
        order_id=order_id,
        body=body,
        digest=_digest(content),
        op=Op(message.op),
        sequence=message.sequence,
        modifies=message.modifies,
        end=bool(message.end),
        as_of=int(message.as_of.timestamp() * 1000) if message.as_of else None,
        ledger_id=ledger_name(message.customer_id, message.ledger_id),
        index=message.index or 0,
        content=content if message.op in _HAVE_EFFECTS else None,
    )


def stored_event(body: str, schema: type[EventMessage] = EventMessage) -> OrderEvent:
    """The event in the text that a lane has kept."""
    content = strict_json.parse(body)
    if not isinstance(content, dict):
        raise Rejected(BODY, "is not an object")
    return event_of(content, schema)


def order_of(event: OrderEvent) -> Mapping[str, Any]:
    """What the order message says that a create stands for; raises Unreadable."""
    content = _content(event)
    order = {name: value for name, value in content.items() if name not in _OF_THE_LANE}
    brought = {"customerId": content["customerId"]} if content.get("customerId") else {}
    return {"version": 1, **order, **brought, "type": "order.submitted"}


def details_of(event: OrderEvent) -> Mapping[str, Any]:
    """What the event says beyond its place in the lane: the fields of the transaction itself; raises Unreadable."""
    left_out = _OF_THE_LANE | {"orderId"}
    return {name: value for name, value in _content(event).items() if name not in left_out}


def _content(event: OrderEvent) -> Mapping[str, Any]:
    # Whoever reads the text that the lane keeps must not judge otherwise.
    content = _parsed(event) if event.content is None else strict_json.as_read(event.content)
    return content if isinstance(content, dict) else {}


def _parsed(event: OrderEvent) -> object:
    try:
        return strict_json.parse(event.body)
    except Rejected as error:
        raise Corrupt(f"{event.order_id}: its event {event.sequence or ''}: {error}") from error


def _check(message: EventMessage, body: str) -> None:
    if (message.op == "modify") != (message.modifies is not None):
        wants = "is missing: a modify names" if message.op == "modify" else "is only for a modify, which names"
        raise Rejected("modifies", f"{wants} the sequence of the event that it changes")
    if message.modifies and message.sequence and message.modifies >= message.sequence:
        raise Rejected("modifies", f"is {message.modifies}; it must be lower than the event's own {message.sequence}")
    if len(body) > MAX_ORDER_BYTES:
        raise Rejected(BODY, f"is {len(body):,} bytes as canonical JSON; the limit is {MAX_ORDER_BYTES:,}")


def unusable(order_id: str, sequence: object, fault: Rejected, text: str) -> dict[str, Any]:
    """What stands for an event that cannot be kept as it is: why, and how it begins."""
    numbered = {"sequence": sequence} if _is_sequence(sequence) else {}
    words = {"invalid": cleaned(str(fault), LONGEST_FAULT), "begins": cleaned(text, LONGEST_BEGINNING)}
    return {"orderId": order_id, **numbered, **words}


def _faulty(order_id: str, content: Mapping[str, Any], fault: Rejected) -> OrderEvent:
    """An event that stops its lane."""
    sequence, index = content.get("sequence"), content.get("index")
    kept = content
    try:
        body = strict_json.canonical(content)
        if len(body) > MAX_ORDER_BYTES:
            kept = unusable(order_id, sequence, fault, body)
    except Rejected:
        kept = unusable(order_id, sequence, fault, repr(content))
    return OrderEvent(
        order_id=order_id,
        body=strict_json.canonical(kept),
        digest=_digest(kept),
        sequence=sequence if _is_sequence(sequence) else None,
        ledger_id=ledger_name(content.get("customerId"), content.get("ledgerId")),
        index=index if type(index) is int else 0,
        fault=cleaned(str(fault), LONGEST_FAULT),
    )


def _is_sequence(value: object) -> TypeGuard[int]:
    return type(value) is int and 1 <= value <= HIGHEST_SEQUENCE


def _split(fault: str) -> tuple[str, str]:
    field, _, reason = fault.partition(": ")
    return field, reason


def _digest(content: Mapping[str, Any]) -> str:
    counts = {name: value for name, value in content.items() if name not in BROUGHT_BY}
    digest = hashlib.sha256(strict_json.canonical(counts).encode()).digest()[:16]
    return b2a_base64(digest, newline=False)[:22].decode()  # what follows is padding
