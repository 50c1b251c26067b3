"""Opens the envelopes that SNS and EventBridge put around a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stepward.domain.errors import Rejected
from stepward.wire import strict_json
from stepward.wire.checked_text import BODY

MAX_LAYERS = 3
_SNS_NOTICES = ("SubscriptionConfirmation", "UnsubscribeConfirmation")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A notice of AWS's own that needs no work: acknowledge it, count it, follow no address in it."""

    what: str


Adapt = Callable[[object], Mapping[str, Any] | Ignored | None]


def open_envelope(
    text: str, parse: Callable[[str], object] = strict_json.parse, adapt: Adapt = lambda _: None
) -> Mapping[str, Any] | Ignored:
    """The object inside at most three envelopes, or what needs no work; raises Rejected.

    `adapt` makes a message of ours of another system's, whatever value that is; None if it knows no such system.
    """
    content, field, layers = parse(text), BODY, MAX_LAYERS
    while isinstance(content, dict) and "orderId" not in content:  # a message of an order is no envelope
        if notice := _notice(content):
            return Ignored(notice)
        if (inner := _content_field(content)) is None:
            break
        field = inner
        if not layers:
            raise Rejected(field, f"is wrapped in more than {MAX_LAYERS} envelopes")
        content, layers = _inner(content.get(field), field, parse), layers - 1
    found = adapt(content)
    return _object(content, field) if found is None else found


def _notice(content: dict[str, object]) -> str:
    if content.get("Service") == "Amazon S3" and content.get("Event") == "s3:TestEvent":
        return "S3 test event"
    kind = content.get("Type")
    return f"SNS {kind}" if kind in _SNS_NOTICES and "TopicArn" in content else ""


def _content_field(content: dict[str, object]) -> str | None:
    if content.get("Type") == "Notification" and "TopicArn" in content:
        return "Message"
    return "detail" if {"detail-type", "source", "detail"} <= content.keys() else None


def _inner(content: object, field: str, parse: Callable[[str], object]) -> object:
    if not isinstance(content, str):
        return content
    try:
        return parse(content)
    except Rejected as fault:
        raise Rejected(field if fault.field == BODY else fault.field, fault.reason) from fault


def _object(content: object, field: str) -> dict[str, object]:
    match content:
        case dict():
            return content
        case str():
            raise Rejected(field, "is JSON text inside a JSON string (encoded twice); send the object itself")
        case [str() as kind, *_] if kind.endswith("S3Pointer"):
            raise Rejected(field, "is a pointer to S3; pointers are not accepted on this queue, send the order itself")
        case None:
            raise Rejected(field, "is null or missing; expected an object")
        case list():
            raise Rejected(field, "is an array; expected an object")
        case bool():
            raise Rejected(field, "is true or false; expected an object")
        case _:
            raise Rejected(field, "is a number; expected an object")
