"""What reaches the lane of an order: its events, and an operator's commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Union

import msgspec

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.key import ANY, Keys
from stepward.wire import strict_json
from stepward.wire.checked_text import cleaned
from stepward.wire.conversion import converted, fields, form
from stepward.wire.envelope import Ignored, open_envelope
from stepward.wire.order import KeyText
from stepward.wire.order_event import EventMessage, Source, adapted, event_of

LONGEST_TEXT = 200
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
_Position = Annotated[int, msgspec.Meta(ge=-999_999_999, le=999_999_999)]
_FIELDS = {"order_id": KeyText, "position": _Position, "body": str, "who": _Text, "why": _Text, "command_id": _Text}
_COMMANDS: Mapping[str, type[LaneCommand]] = {
    "convoy.retry": RetryLane,
    "convoy.skip": SkipEvent,
    "convoy.replace": ReplaceEvent,
}
_FORMS = {each: form(each, tag, _FIELDS, forbid_unknown_fields=True) for tag, each in _COMMANDS.items()}
_ANY_FORM: Any = Union[tuple(_FORMS.values())]  # noqa: UP007 - of a list


def encode_command(command: LaneCommand) -> str:
    """The text of a command; what people typed is cut and cleaned."""
    content = fields(command, _FORMS[type(command)])
    return strict_json.canonical(content | {key: cleaned(content[key], LONGEST_TEXT) for key in ("who", "why")})


def decode_for_lane(
    text: str, schema: type[EventMessage], sources: Sequence[Source] = (), keys: Keys = ANY
) -> OrderEvent | LaneCommand | Ignored:
    """The event or the command in a message; raises Rejected if it addresses no order."""
    content = open_envelope(text)
    if isinstance(content, Ignored):
        return content
    tag = content.get("type")
    if isinstance(tag, str) and (kind := _COMMANDS.get(tag)):
        command: LaneCommand = kind(**msgspec.structs.asdict(converted(content, _ANY_FORM)))
        return command
    return event_of(adapted(content, sources), schema, keys)
