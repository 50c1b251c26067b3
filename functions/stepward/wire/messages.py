"""The messages between the parts, as ASCII JSON with a `type` and camelCase keys.

Orders and results come back as they were sent, value for value: text and integers as themselves,
other numbers as `Decimal`. During a deployment a newer part may talk to an older one, so unknown keys are passed
over, and a `type` or an outcome that this code does not know is not understood: only newer code sends it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, Union, get_args

import msgspec

from stepward.domain.errors import NotUnderstood, Permanent, Rejected
from stepward.domain.messages import (
    Callback,
    Cancel,
    CheckedRequest,
    ChildEnded,
    ChildHeard,
    ChildSubmit,
    ChildUndo,
    ItemRequest,
    Outcome,
    Pause,
    Reply,
    Report,
    ReportReject,
    Resubmit,
    Resume,
    Retry,
    SignalGiven,
    Start,
    StepRequest,
    ToScheduler,
    Undo,
)
from stepward.wire import strict_json
from stepward.wire.checked_text import MAX_DEPTH, cleaned
from stepward.wire.conversion import converted, decoder, fields, form
from stepward.wire.order import KeyText

MAX_INLINE_BYTES = 2_000
"""A result that is larger is kept in a row of its own."""
MAX_RESULT_BYTES = 262_144
MAX_ERROR_CHARACTERS = 1_000
MAX_NAME = 100
# A request holds an order one level down, and a step's result two.
_DEEPEST = MAX_DEPTH + 2

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_FIELDS: Mapping[str, Any] = {
    "order_id": KeyText,
    "step": _Name,
    "attempt": _Count,
    "who": str,
    "why": str,
    "asked_at": _Count,
    "token": _Name,
    "outcome": Outcome,
    "result": dict[str, Any],
    "error": str,
    "size": _Count,
    "agent": _Name,
    "operation": _Name,
    "check": _Name,
    "fence": _Count,
    "idempotency_key": _Name,
    "complete_by": _Count,
    "budget": int,
    "results": dict[str, dict[str, Any]],
    "order": dict[str, Any],
    "priority": str,
    "tenant": str,
    "customer_id": str,
    "correlation_id": str,
    "reply_to": _Name,
    "name": _Name,
    "reason": str,
    "at": _Count,
    "callback": str,
    "signal_id": _Name,
    "data": dict[str, Any],
    "refused": str,
    "door": str,
    "undone": bool,
    "item": Any,
}
"""What each field of a message may hold, whichever message it is of; a field that is not here stays with its sender."""
_FREE = ("who", "why", "error", "reason", "refused")
_FORMS: Mapping[type[object], type[msgspec.Struct]] = {
    message: form(message, tag, _FIELDS)
    for tag, message in {
        "task.start": Start,
        "step.retry": Retry,
        "step.resubmit": Resubmit,
        "task.undo": Undo,
        "task.cancel": Cancel,
        "step.signal": SignalGiven,
        "task.pause": Pause,
        "task.resume": Resume,
        "task.report": Report,
        "order.rejected": ReportReject,
        "step.callback": Callback,
        "child.submit": ChildSubmit,
        "child.undo": ChildUndo,
        "child.ended": ChildEnded,
        "child.heard": ChildHeard,
        "step.reply": Reply,
        "step.request": StepRequest,
        "step.checked": CheckedRequest,
        "step.item": ItemRequest,
    }.items()
}
_MESSAGES: Mapping[type[msgspec.Struct], type[object]] = {each: message for message, each in _FORMS.items()}
_TAGS = frozenset(each.__struct_config__.tag for each in _MESSAGES)
_OUTCOMES = frozenset(Outcome)
_ANY_FORM: Any = Union[tuple(_MESSAGES)]  # noqa: UP007 - of a list


def encode(message: ToScheduler | StepRequest) -> str:
    """The text of a message; raises Rejected for values that JSON cannot hold exactly.

    Free text (who, why, error, reason, refused) is cut and cleaned instead: a fault must get through.
    """
    content = fields(message, _FORMS[type(message)])
    if isinstance(message, Reply):
        content["outcome"] = message.outcome.value  # plain text passes the quick check, an enum does not
        left_out = [key for key, used in (("completeBy", message.complete_by), ("size", message.size)) if not used]
        content = {key: content[key] for key in content if key not in left_out}
    if isinstance(message, StepRequest) and not message.callback:
        del content["callback"]
    if isinstance(message, ItemRequest) and not message.check:
        del content["check"]
    free = {key: cleaned(content[key], MAX_ERROR_CHARACTERS) for key in _FREE if key in content}
    return strict_json.canonical(content | free, _DEEPEST)


def decode_for_scheduler(text: str) -> ToScheduler:
    """A message to the Scheduler; raises Rejected with field and reason, or NotUnderstood."""
    message: ToScheduler = _decoded(text, *get_args(ToScheduler))
    return message


def decode_request(text: str) -> StepRequest:
    """A request to an Agent; raises Rejected with field and reason, or NotUnderstood."""
    message: StepRequest = _decoded(text, StepRequest, CheckedRequest, ItemRequest)
    return message


def unread(text: str, why: str) -> Reply | None:
    """Tells the Scheduler that nobody can read a request, or a reply; None if the text names no attempt.

    It only spares the attempt, so it may be made of a message that is not understood.
    """
    content: Any = strict_json.parse(text, _DEEPEST)
    named = {key: content.get(key) for key in ("orderId", "step", "attempt", "token")}
    told = {"type": "step.reply", "outcome": Outcome.NOT_UNDERSTOOD.value, "error": why}
    try:
        return Reply(**msgspec.structs.asdict(converted(named | told, _FORMS[Reply])))
    except Rejected:
        return None


def large(text: str) -> int:
    """The bytes of a result's text if it needs a row of its own, else 0."""
    return len(text) if len(text) > MAX_INLINE_BYTES else 0


def encode_result(result: object) -> str:
    """The text of an operation's result; raises Permanent for what cannot be kept."""
    if not isinstance(result, Mapping):
        said = "None" if result is None else f"a {type(result).__name__}"
        raise Permanent(f"the operation returned {said}; return a dict, {{}} if there is nothing to say")
    try:
        text = strict_json.canonical(result)
    except Rejected as fault:
        raise Permanent(f"the operation's result cannot be kept: {fault}") from fault
    if len(text) > MAX_RESULT_BYTES:
        raise Permanent(
            f"the operation's result is {len(text):,} bytes of JSON, the limit is {MAX_RESULT_BYTES:,}; its effect "
            "took place: undo the order, or have the operation return a reference, and resubmit"
        )
    return text


def _decoded(text: str, *wanted: type[object]) -> Any:
    content = strict_json.parse(text, _DEEPEST)
    if isinstance(content, dict):
        _check_known(content, "type", _TAGS)
        _check_known(content, "outcome", _OUTCOMES)
    try:
        filled = _reader().decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        filled = converted(content, _ANY_FORM)  # says what is wrong
    message = _MESSAGES[type(filled)]
    if message not in wanted:
        raise Rejected("type", f"is {filled.__struct_config__.tag}, which does not belong on this queue")
    return message(**msgspec.structs.asdict(filled))


@cache
def _reader() -> msgspec.json.Decoder[Any]:
    return decoder(_ANY_FORM)


def _check_known(content: Mapping[str, Any], key: str, names: Collection[object]) -> None:
    if isinstance(name := content.get(key), str) and name not in names:
        raise NotUnderstood(f"a message whose {key} is {cleaned(name, MAX_NAME)!r}")
