"""Parts of a lane as DynamoDB attributes and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.constants import MAP

HEAD = "lane"
"""The place of the lane itself: it sorts behind every event."""
_DIGITS = 10
LAST_KEY = "9" * _DIGITS


@dataclass(frozen=True, slots=True)
class KeptText:
    """The text of an event that a lane holds, and why it was passed over, if it was."""

    body: str
    passed_over: str = ""


class RecentAttribute(Attribute[Mapping[int, KeptText]]):
    """The newest events of a lane by their place, as a map: it costs fewer bytes than JSON within JSON."""

    attr_type = MAP

    def serialize(self, value: Mapping[int, KeptText]) -> dict[str, dict[str, Any]]:
        """The events in DynamoDB's JSON."""
        return {str(place): _encode(kept) for place, kept in value.items()}

    def deserialize(self, value: Mapping[str, Mapping[str, Any]]) -> Mapping[int, KeptText]:
        """The events that `serialize` wrote, in the order of their places."""
        return dict(sorted((int(place), _decode(kept)) for place, kept in value.items()))


def key_of(place: int) -> str:
    """The sort key of a place; keys sort as places do, and those below zero before all others."""
    return f"{place:0{_DIGITS}d}" if place >= 0 else f"-{10**_DIGITS + place:0{_DIGITS}d}"


def place_in(key: str) -> int:
    """The place whose key this is."""
    return int(key[1:]) - 10**_DIGITS if key.startswith("-") else int(key)


def encode_marks(marks: Mapping[str, int]) -> str | None:
    """How far into each ledger a lane has come, the one heard of last at the end; None if there is none."""
    # A map would lose the order, by which the oldest is forgotten.
    return json.dumps(list(marks.items()), separators=(",", ":")) if marks else None


def decode_marks(text: str | None) -> Mapping[str, int]:
    """The marks that `encode_marks` wrote."""
    return {str(name): int(index) for name, index in json.loads(text or "[]")}


def encode_places(places: tuple[int, ...]) -> str | None:
    """Places in their order; None if there are none."""
    return json.dumps(places, separators=(",", ":")) if places else None


def decode_places(text: str | None) -> tuple[int, ...]:
    """The places that `encode_places` wrote."""
    return tuple(int(place) for place in json.loads(text or "[]"))


def _encode(kept: KeptText) -> dict[str, Any]:
    return {"L": [{"S": kept.body}, {"S": kept.passed_over}]} if kept.passed_over else {"S": kept.body}


def _decode(value: Mapping[str, Any]) -> KeptText:
    return KeptText(*(part["S"] for part in value["L"])) if "L" in value else KeptText(value["S"])
