"""What reaches the lane of an order: its events, and an operator's commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Union

import msgspec

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import OrderEvent
from stepward.domain.errors import Rejected
from stepward.domain.key import ANY, Keys, TaskKey
from stepward.domain.key import group as group_of
from stepward.wire import strict_json
from stepward.wire.checked_text import check, cleaned
from stepward.wire.conversion import converted, fields, form
from stepward.wire.envelope import Ignored, open_envelope
from stepward.wire.order import KeyText, order_id_hint
from stepward.wire.order_event import EventMessage, addressee, event_of, unusable
from stepward.wire.source import INVALID, Source, adapted

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


class _Addressed(msgspec.Struct, frozen=True, rename="camel"):
    order_id: KeyText


def encode_command(command: LaneCommand) -> str:
    """The text of a command; what people typed is cut and cleaned."""
    content = fields(command, _FORMS[type(command)])
    return strict_json.canonical(content | {key: cleaned(content[key], LONGEST_TEXT) for key in ("who", "why")})


def decode_for_lane(
    text: str,
    group: str = "",
    *,
    schema: type[EventMessage] = EventMessage,
    sources: Sequence[Source] = (),
    keys: Keys = ANY,
) -> OrderEvent | LaneCommand | Ignored:
    """The event or the command in a message of this group ("": unknown); raises Rejected if nothing names an order.

    An event that cannot be read, or that came in another order's group, has a fault and blocks its lane: if it were
    passed over, the next one could be applied in its place.
    """
    try:
        content = open_envelope(text, strict_json.parse_unchecked, partial(adapted, sources=sources))
        if isinstance(content, Ignored):
            return content
        tag = content.get("type")
        # What a ledger has brought is no command, whatever its sender calls it.
        kind = _COMMANDS.get(tag) if isinstance(tag, str) and "ledgerId" not in content else None
        key = converted(content, _Addressed).order_id if kind else addressee(content, keys)
    except Rejected as fault:
        if fault.field == "workflow":  # it is for an order of another application
            raise
        return event_of(unusable(_meant(text, group, fault, keys), None, fault, text), schema, keys, text)
    own = group_of(key)
    strays = Rejected("messageGroupId", f"is {group!r}; what is for order {key} belongs to the group {own!r}")
    if kind is None:
        return event_of(content if group in {"", own} else {**content, INVALID: str(strays)}, schema, keys, text)
    if group not in {"", own}:
        raise strays
    check(content)
    command: LaneCommand = kind(**msgspec.structs.asdict(converted(content, _ANY_FORM)))
    return command


def _meant(text: str, group: str, fault: Rejected, keys: Keys) -> str:
    """The key of a message that cannot be read: of the order that its text names, else of its group; raises `fault`."""
    for named in (order_id_hint(text), group):
        with suppress(Rejected):
            return addressee(TaskKey.read(named).fields, keys)
    raise fault
