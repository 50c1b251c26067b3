"""What reaches the lane of an order: its events, and what an operator asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.errors import Rejected
from stepward.wire import strict_json
from stepward.wire.checked_text import BODY, cleaned
from stepward.wire.conversion import converted, fields
from stepward.wire.envelope import Ignored, open_envelope
from stepward.wire.order import OrderId
from stepward.wire.order_event import EventMessage, Source, adapted, event_of

LONGEST_TEXT = 200
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
_Place = Annotated[int, msgspec.Meta(ge=-999_999_999, le=999_999_999)]


class _Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, tag_field="type"):
    order_id: OrderId
    who: _Text
    why: _Text
    asked: _Text


class _Retry(_Asked, frozen=True, tag="convoy.retry"):
    pass


class _Skip(_Asked, frozen=True, kw_only=True, rename="camel", tag="convoy.skip"):
    position: _Place


class _Replace(_Asked, frozen=True, kw_only=True, rename="camel", tag="convoy.replace"):
    position: _Place
    body: str


_FORMS: dict[type[object], type[_Asked]] = {RetryLane: _Retry, SkipEvent: _Skip, ReplaceEvent: _Replace}
_MEANT: dict[type[_Asked], type[LaneCommand]] = {_Retry: RetryLane, _Skip: SkipEvent, _Replace: ReplaceEvent}
_ANY_FORM: Any = _Retry | _Skip | _Replace
_TAGS = ("convoy.retry", "convoy.skip", "convoy.replace")


def encode_command(command: LaneCommand) -> str:
    """The text of a command; what people typed is cut and cleaned."""
    said = fields(command, _FORMS[type(command)])
    return strict_json.canonical(said | {key: cleaned(said[key], LONGEST_TEXT) for key in ("who", "why")})


def decode_for_lane(
    text: str, schema: type[EventMessage], sources: Sequence[Source] = ()
) -> OrderEvent | LaneCommand | Ignored:
    """What a message wants of a lane; raises Rejected if it does not say of which order."""
    content = open_envelope(text)
    if isinstance(content, Ignored):
        return content
    if not isinstance(content, Mapping):
        raise Rejected(BODY, "is not an object")
    if content.get("type") in _TAGS:
        asked = converted(content, _ANY_FORM)
        return _MEANT[type(asked)](**{name: getattr(asked, name) for name in asked.__struct_fields__})
    return event_of(adapted(content, sources), schema)
