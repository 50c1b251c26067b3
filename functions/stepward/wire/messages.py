"""The messages between the parts, as ASCII JSON with a `type` and camelCase keys.

Orders and results come back as they were sent, value for value: text and integers as themselves,
other numbers as `Decimal`. Unknown keys are passed over, since during a deployment a newer part may
talk to an older one; an unknown `type` is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from stepward.domain.errors import Permanent, Rejected
from stepward.domain.messages import (
    Cancel,
    Outcome,
    Pause,
    Reply,
    Report,
    Resubmit,
    Resume,
    Retry,
    Start,
    StepRequest,
    ToScheduler,
    Undo,
)
from stepward.wire import strict_json
from stepward.wire.checked_text import MAX_DEPTH, cleaned
from stepward.wire.conversion import converted, fields
from stepward.wire.order import OrderId

MAX_RESULT_BYTES = 2_000
MAX_ERROR_CHARACTERS = 1_000
# A request holds an order one level down, and a step's result two.
_DEEPEST = MAX_DEPTH + 2

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Start(msgspec.Struct, rename="camel", tag="task.start"):
    order_id: OrderId


class _Retry(msgspec.Struct, rename="camel", tag="step.retry"):
    order_id: OrderId
    step: _Name
    attempt: _Count


class _Resubmit(msgspec.Struct, rename="camel", tag="step.resubmit"):
    order_id: OrderId
    step: _Name
    attempt: _Count
    who: str
    why: str


class _Command(msgspec.Struct, rename="camel"):
    order_id: OrderId
    who: str
    why: str


class _Undo(_Command, tag="task.undo"):
    pass


class _Cancel(_Command, tag="task.cancel"):
    pass


class _Pause(_Command, tag="task.pause"):
    asked_at: _Count = 0


class _Resume(_Command, tag="task.resume"):
    asked_at: _Count = 0


class _Report(msgspec.Struct, rename="camel", tag="task.report"):
    order_id: OrderId


class _Reply(msgspec.Struct, rename="camel", tag="step.reply"):
    order_id: OrderId
    step: _Name
    attempt: _Count
    token: _Name
    outcome: Outcome
    result: dict[str, Any] = {}
    error: str = ""


class _Request(msgspec.Struct, rename="camel", tag="step.request"):
    order_id: OrderId
    step: _Name
    agent: _Name
    operation: _Name
    attempt: _Count
    token: _Name
    fence: _Count
    idempotency_key: _Name
    complete_by: _Count
    budget: int
    results: dict[str, dict[str, Any]] = {}
    order: dict[str, Any] = {}
    priority: str = "normal"
    tenant: str = ""


_FORMS: dict[type[object], type[msgspec.Struct]] = {
    Start: _Start,
    Retry: _Retry,
    Resubmit: _Resubmit,
    Undo: _Undo,
    Cancel: _Cancel,
    Pause: _Pause,
    Resume: _Resume,
    Report: _Report,
    Reply: _Reply,
    StepRequest: _Request,
}
_MEANT: dict[type[msgspec.Struct], type[object]] = {form: message for message, form in _FORMS.items()}
_ANY_FORM: Any = _Start | _Retry | _Resubmit | _Undo | _Cancel | _Pause | _Resume | _Report | _Reply | _Request


def encode(message: ToScheduler | StepRequest) -> str:
    """The text of a message; raises Rejected for values that JSON cannot hold exactly.

    Free text (who, why, error) is cut and cleaned instead: a fault must be told, however it is worded.
    """
    said = fields(message, _FORMS[type(message)])
    free = {key: cleaned(said[key], MAX_ERROR_CHARACTERS) for key in ("who", "why", "error") if key in said}
    return strict_json.canonical(said | free, _DEEPEST)


def decode_for_scheduler(text: str) -> ToScheduler:
    """What the Scheduler is told; raises Rejected with field and reason."""
    message: ToScheduler = _decoded(text, Start, Retry, Resubmit, Undo, Cancel, Pause, Resume, Report, Reply)
    return message


def decode_request(text: str) -> StepRequest:
    """What an Agent is asked; raises Rejected with field and reason."""
    message: StepRequest = _decoded(text, StepRequest)
    return message


def encode_result(result: object) -> str:
    """The text of an operation's result; raises Permanent for what cannot be kept with the task."""
    if not isinstance(result, Mapping):
        raise Permanent(
            f"the operation returned a {type(result).__name__}; return a dict, {{}} if there is nothing to say"
        )
    try:
        text = strict_json.canonical(result)
    except Rejected as fault:
        raise Permanent(f"the operation's result cannot be kept: {fault}") from fault
    if len(text) > MAX_RESULT_BYTES:
        raise Permanent(
            f"the operation's result is {len(text):,} bytes of JSON, the limit is {MAX_RESULT_BYTES:,}; "
            "keep the data elsewhere and return a reference to it"
        )
    return text


def _decoded(text: str, *wanted: type[object]) -> Any:
    filled = converted(strict_json.parse(text, _DEEPEST), _ANY_FORM)
    meant = _MEANT[type(filled)]
    if meant not in wanted:
        raise Rejected("type", f"is {filled.__struct_config__.tag}, which does not belong on this queue")
    return meant(**msgspec.structs.asdict(filled))
