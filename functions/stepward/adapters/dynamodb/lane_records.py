"""Converts parts of a lane to DynamoDB attributes and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.constants import MAP

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent
from stepward.domain.errors import NotUnderstood, known

HEAD = "lane"
"""The sort key of the lane itself: it sorts behind every event."""
_DIGITS = 10
LAST_KEY = "9" * _DIGITS
_SEPARATOR = "\x1f"
"""Separates the parts of a summary; SQS carries it in no message, so no part contains it."""
_PARTS: Mapping[str, Callable[[str], Any]] = {
    "digest": str,
    "op": lambda text: known(Op, text, "an event with op"),
    "sequence": int,
    "ledger_id": str,
    "index": int,
    "modifies": int,
    "as_of": int,
    "end": bool,
    "fault": str,
}
"""The fields of an event in its summary, the usual ones first."""


@dataclass(frozen=True, slots=True)
class EventText:
    """An event as it is stored: its text, a summary that spares parsing it, and why it was skipped."""

    body: str
    summary: str
    skipped: str = ""

    @staticmethod
    def of(stored: StoredEvent) -> EventText:
        """The stored form of an event of a lane."""
        return EventText(stored.event.body, _summary(stored.event), stored.skipped)

    def stored(self, order_id: str, position: int) -> StoredEvent:
        """The event that was given to `of`; raises ValueError or TypeError."""
        return StoredEvent(position, _event(order_id, self.body, self.summary), self.skipped)


class RecentAttribute(Attribute[Mapping[int, EventText]]):
    """The newest events of a lane by position, as a map: it costs fewer bytes than JSON within JSON."""

    attr_type = MAP

    def serialize(self, value: Mapping[int, EventText]) -> dict[str, dict[str, Any]]:
        """The events in DynamoDB's JSON."""
        return {str(position): _encode(text) for position, text in value.items()}

    def deserialize(self, value: Mapping[str, Mapping[str, Any]]) -> Mapping[int, EventText]:
        """The events that `serialize` wrote, in the order of their positions."""
        return dict(sorted((int(position), _decode(text)) for position, text in value.items()))


def key_of(position: int) -> str:
    """The sort key of a position; keys sort as positions do, negative ones first."""
    return f"{position:0{_DIGITS}d}" if position >= 0 else f"-{10**_DIGITS + position:0{_DIGITS}d}"


def position_in(key: str) -> int:
    """The position whose key this is."""
    return int(key[1:]) - 10**_DIGITS if key.startswith("-") else int(key)


def encode_offsets(offsets: Mapping[str, int]) -> str | None:
    """How far into each ledger a lane has come, the latest ledger last; None if there is none."""
    # A list keeps the order, by which a lane forgets the oldest ledger; a map would not.
    return json.dumps(list(offsets.items()), separators=(",", ":")) if offsets else None


def decode_offsets(text: str | None) -> Mapping[str, int]:
    """The offsets that `encode_offsets` wrote."""
    return {str(name): int(index) for name, index in json.loads(text or "[]")}


def encode_list(values: tuple[int, ...] | tuple[str, ...]) -> str | None:
    """Positions or names in their order; None if there are none."""
    return json.dumps(values, separators=(",", ":")) if values else None


def decode_positions(text: str | None) -> tuple[int, ...]:
    """The positions that `encode_list` wrote."""
    return tuple(int(position) for position in json.loads(text or "[]"))


def decode_names(text: str | None) -> tuple[str, ...]:
    """The names that `encode_list` wrote."""
    return tuple(str(name) for name in json.loads(text or "[]"))


def _encode(text: EventText) -> dict[str, Any]:
    parts = (text.body, text.summary, text.skipped)
    return {"L": [{"S": part} for part in parts if part]}


def _decode(value: Mapping[str, Any]) -> EventText:
    body, summary, *skipped = (part["S"] for part in value["L"])
    if len(skipped) > 1:
        raise NotUnderstood("an event with more parts")
    return EventText(body, summary, "".join(skipped))


def _summary(event: OrderEvent) -> str:
    values = (getattr(event, name) for name in _PARTS)
    parts = ("" if value is None or value is False else str(value) for value in values)
    return _SEPARATOR.join(parts).rstrip(_SEPARATOR)


def _event(order_id: str, body: str, summary: str) -> OrderEvent:
    texts = summary.split(_SEPARATOR)
    if len(texts) > len(_PARTS):
        raise NotUnderstood("a summary with more parts")
    parts = zip(_PARTS.items(), texts, strict=False)
    return OrderEvent(order_id, body, **{name: read(text) for (name, read), text in parts if text})
