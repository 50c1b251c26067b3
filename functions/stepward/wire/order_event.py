"""Order events: how a text becomes an event of its order's lane, valid or not, and back."""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeGuard

import msgspec

from stepward.domain.convoy.event import Op, OrderEvent
from stepward.domain.errors import Corrupt, Rejected
from stepward.domain.key import ANY, Keys, TaskKey
from stepward.wire import strict_json
from stepward.wire.checked_text import BODY, check, cleaned
from stepward.wire.conversion import converted
from stepward.wire.order import OrderId, ShortText, Timestamp, WorkflowName, sized
from stepward.wire.source import BROUGHT_BY, INVALID, NO_CONTENT, OF_THE_LANE, TEXT, check_valid, order_in
from stepward.wire.source import Source as Source  # noqa: PLC0414 - it is imported from here, too

HIGHEST_SEQUENCE = 999_999_999
LONGEST_FAULT = 400
LONGEST_BEGINNING = 1000
MOST_TEXT_BYTES = 300_000

Sequence_ = Annotated[int, msgspec.Meta(ge=1, le=HIGHEST_SEQUENCE)]
Index = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_SEQUENCE)]

_HAVE_EFFECTS = frozenset({"create", "delete"})


class EventMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields of every order event; an application adds its own in a subclass.

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
    workflow: WorkflowName | None = None


class _Addressed(msgspec.Struct, frozen=True, rename="camel"):
    order_id: OrderId
    workflow: WorkflowName | None = None


class _OfCustomer(msgspec.Struct, frozen=True, rename="camel"):
    customer_id: ShortText | None = None


def ledger_name(customer_id: object, ledger_id: object) -> str:
    """The unique name of a ledger among those of all customers; empty if it has none. No id holds the bar."""
    if not isinstance(ledger_id, str):
        return ""
    return f"{customer_id}|{ledger_id}" if isinstance(customer_id, str) else ledger_id


def addressee(content: object, keys: Keys = ANY) -> str:
    """The key of the task that an event is for; raises Rejected if it does not address one."""
    # An event with any other fault belongs to the order that it names.
    named = converted(_only(content, "orderId", "workflow"), _Addressed)
    workflow = named.workflow or ""
    customer = converted(_only(content, "customerId"), _OfCustomer).customer_id if keys.tell_apart(workflow) else ""
    return keys.key(named.order_id, customer or "", workflow)


def _only(content: object, *names: str) -> object:
    return {name: content[name] for name in names if name in content} if isinstance(content, Mapping) else content


class _BroughtBy(msgspec.Struct, frozen=True, rename="camel"):
    ledger_id: ShortText | None = None
    index: Index | None = None
    customer_id: ShortText | None = None


def event_of(
    content: Mapping[str, Any], schema: type[EventMessage] = EventMessage, keys: Keys = ANY, text: str = ""
) -> OrderEvent:
    """The event in `content`; one that is not valid is an event with a fault. Raises Rejected if it has no lane.

    If it cannot be stored, the beginning of `text`, in which it came, is.
    """
    key = addressee(content, keys)
    try:
        return _valid(key, content, schema)
    except Rejected:
        stored = _as_stored(content)
    try:
        return _valid(key, stored, schema)
    except Rejected as fault:
        return _faulty(key, stored, fault, text or strict_json.shown(content))


def _as_stored(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the lane will read in its stored text; `content` itself if it can have no such text."""
    try:
        check(content)
    except Rejected:
        return content
    stored: Mapping[str, Any] = strict_json.as_read(content)
    return stored


def _valid(key: str, content: Mapping[str, Any], schema: type[EventMessage]) -> OrderEvent:
    """The event in `content`; raises Rejected."""
    check_valid(content)
    body = strict_json.canonical(content)
    message = converted(content, schema)
    _check(message, body)
    return OrderEvent(
        order_id=key,
        body=body,
        digest=_digest(content),
        op=Op(message.op),
        sequence=message.sequence,
        modifies=message.modifies,
        end=bool(message.end),
        as_of=int(message.as_of.timestamp() * 1000) if message.as_of else None,
        ledger_id=ledger_name(message.customer_id, message.ledger_id),
        index=message.index or 0,
        customer_id=message.customer_id or "",
        content=content if message.op in _HAVE_EFFECTS else None,
    )


def stored_event(body: str, schema: type[EventMessage] = EventMessage, keys: Keys = ANY) -> OrderEvent:
    """The event in a stored text of a lane."""
    content = strict_json.parse(body)
    if not isinstance(content, dict):
        raise Rejected(BODY, "is not an object")
    return event_of(content, schema, keys)


def order_of(event: OrderEvent, keys: Keys = ANY) -> Mapping[str, Any]:
    """The content of the order message that a create stands for, of the type of its workflow; raises Corrupt."""
    return order_in(_content(event), keys.type_of(TaskKey.read(event.order_id).workflow))


def details_of(event: OrderEvent) -> Mapping[str, Any]:
    """The fields of the transaction itself, without those for the lane; raises Corrupt."""
    left_out = OF_THE_LANE | {"orderId"}
    return {name: value for name, value in _content(event).items() if name not in left_out}


def _content(event: OrderEvent) -> Mapping[str, Any]:
    # It has to be the same as what is read in the stored text.
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
    sized(body)


def unusable(key: str, sequence: object, fault: Rejected, text: str) -> dict[str, Any]:
    """The content that replaces an event of a task that cannot be stored: why, and the text that it came in.

    Of a text that is too long for a lane, it has the beginning.
    """
    numbered = {"sequence": sequence} if _is_sequence(sequence) else {}
    kept = cleaned(text, MOST_TEXT_BYTES)
    if len(text) > MOST_TEXT_BYTES or len(strict_json.canonical(kept)) > MOST_TEXT_BYTES:
        kept = kept[:LONGEST_BEGINNING]
    return {**TaskKey.read(key).fields, **numbered, INVALID: cleaned(str(fault), LONGEST_FAULT), TEXT: kept}


def as_sent(body: str) -> str:
    """The text of an event as its sender wrote it, as far as its lane has that: to be mended, and sent again."""
    if INVALID not in body:
        return body
    content = strict_json.parse_unchecked(body)
    if not isinstance(content, dict) or INVALID not in content:
        return body
    own = {name: value for name, value in content.items() if name != INVALID}
    return content[TEXT] if isinstance(content.get(TEXT), str) else strict_json.shown(own)


def _faulty(key: str, content: Mapping[str, Any], fault: Rejected, text: str) -> OrderEvent:
    """An event that blocks its lane."""
    sequence, customer, brought = content.get("sequence"), content.get("customerId"), _brought(content)
    if isinstance(before := content.get(TEXT), str):
        text = before
    instead = {**unusable(key, sequence, fault, text), **brought}
    if INVALID in content and "op" not in content:
        content = instead
    try:
        body = sized(strict_json.canonical(content))
    except Rejected:
        content = instead
        body = strict_json.canonical(instead)
    return OrderEvent(
        order_id=key,
        body=body,
        digest=_digest(content),
        sequence=sequence if _is_sequence(sequence) else None,
        ledger_id=ledger_name(brought.get("customerId"), brought.get("ledgerId")),
        index=brought.get("index") or 0,
        fault=cleaned(str(fault), LONGEST_FAULT),
        customer_id=customer if isinstance(customer, str) else "",
    )


def _brought(content: Mapping[str, Any]) -> dict[str, Any]:
    """The valid ones of the fields that say how an event came: a redelivery is recognised by them."""
    found: dict[str, Any] = {}
    for name in BROUGHT_BY:
        with suppress(Rejected):
            if name in content and converted({name: content[name]}, _BroughtBy):
                found[name] = content[name]
    return found


def _is_sequence(value: object) -> TypeGuard[int]:
    return type(value) is int and 1 <= value <= HIGHEST_SEQUENCE


def _digest(content: Mapping[str, Any]) -> str:
    own = {name: value for name, value in content.items() if name not in NO_CONTENT}
    digest = hashlib.sha256(strict_json.canonical(own).encode()).digest()[:16]
    return b2a_base64(digest, newline=False)[:22].decode()  # what follows is padding
