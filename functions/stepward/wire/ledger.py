"""Ledgers: the transactions of many orders, interleaved, in one message or in one object of lines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.domain.key import ANY, Keys
from stepward.wire import strict_json
from stepward.wire.conversion import converted
from stepward.wire.envelope import Ignored, open_envelope
from stepward.wire.order import ShortText, order_id_hint, sized
from stepward.wire.order_event import addressee, ledger_name, unusable
from stepward.wire.source import BROUGHT_BY, INVALID, TEXT, Source, adapted, check_valid

LONGEST_LINE = 350_000
MOST_ENTRIES = 50_000
"""Entries of one message: an empty entry takes a few bytes, and a message may hold a megabyte."""
_Key = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._:@=/-]{0,511}\Z")]


class LedgerMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A ledger as a message: its entries, or the key of the object that holds one entry a line."""

    ledger_id: ShortText
    customer_id: ShortText
    entries: Annotated[list[Any], msgspec.Meta(min_length=1, max_length=MOST_ENTRIES)] | None = None
    object_key: _Key | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger: its `entries`, or the key of the object that holds one entry per line.

    `digest` is the hash of the content, so that another ledger cannot pass for this one.
    """

    ledger_id: str
    customer_id: str
    digest: str
    entries: tuple[Any, ...] = ()
    object_key: str = ""


def decode_ledger(text: str) -> Ledger | Ignored:
    """The ledger in a message, its entries unchecked; raises Rejected with field and reason."""
    content = open_envelope(text, strict_json.parse_unchecked)
    if isinstance(content, Ignored):
        return content
    ledger = converted(content, LedgerMessage)
    if (ledger.entries is None) == (ledger.object_key is None):
        raise Rejected("entries", "is needed, or objectKey in its place: a ledger has either its entries or an object")
    return Ledger(
        ledger.ledger_id,
        ledger.customer_id,
        _digest(content, text),
        tuple(ledger.entries or ()),
        ledger.object_key or "",
    )


def entry_of(
    ledger: Ledger, index: int, raw: object, sources: Sequence[Source], keys: Keys = ANY
) -> LaneMessage | Ignored:
    """An entry as a message to its order's lane; raises Rejected if it addresses none.

    An entry with any other fault goes to its lane, too, which has to know of it.
    """
    if isinstance(raw, Mapping):
        raw = {name: value for name, value in raw.items() if name not in {INVALID, TEXT}}
    event = adapted(raw, sources)
    if isinstance(event, Ignored):
        return event
    if event is None:
        if not isinstance(raw, Mapping):
            raise Rejected(f"entries[{index}]", "is not an object")
        event = raw
    return _message(ledger, index, event, raw, keys)


def entry_in(
    ledger: Ledger, index: int, line: bytes, sources: Sequence[Source], keys: Keys = ANY
) -> LaneMessage | Ignored:
    """The entry in a line of an object; raises Rejected like `entry_of`."""
    try:
        raw = strict_json.parse_unchecked(line)
    except Rejected as fault:
        text = line.decode(errors="replace")
        if not (order_id := order_id_hint(text)):
            raise
        return _message(ledger, index, unusable(order_id, None, fault, text), text, keys)
    return entry_of(ledger, index, raw, sources, keys)


def _message(ledger: Ledger, index: int, event: Mapping[str, Any], raw: object, keys: Keys) -> LaneMessage:
    """The message about an event that came as `raw`, a text or what was read; raises Rejected if it has no lane."""
    key = addressee({**event, "customerId": ledger.customer_id}, keys)
    own = {name: value for name, value in event.items() if name not in BROUGHT_BY}
    brought = {"ledgerId": ledger.ledger_id, "index": index, "customerId": ledger.customer_id}
    try:
        check_valid(own)
        body = sized(strict_json.canonical({**own, **brought}))
    except Rejected as fault:
        instead = unusable(key, own.get("sequence"), fault, raw if isinstance(raw, str) else strict_json.shown(raw))
        body = strict_json.canonical({**instead, **brought})
    name = ledger_name(ledger.customer_id, ledger.ledger_id)
    return LaneMessage.of_ledger(key, name, index, body, alone="sequence" not in own)


def _digest(content: Mapping[str, object], text: str) -> str:
    """The hash of a ledger's content, however it is written; of its very text if that has faults."""
    try:
        canonical = strict_json.canonical(content)
    except Rejected:
        canonical = text
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:32]
