"""Order messages: the fields that every order must have, and what is refused in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from stepward.domain.errors import Rejected
from stepward.domain.key import ANY, LONGEST_KEY, Keys
from stepward.domain.messages import MOST_DATA_BYTES, SUBMITTERS, Callback, Cancel, SignalGiven
from stepward.domain.submission import Order, check_complete_by
from stepward.wire import strict_json
from stepward.wire.checked_text import BODY
from stepward.wire.conversion import converted
from stepward.wire.envelope import Ignored, open_envelope
from stepward.wire.source import Source, order_message

# Leaves room for the rest of a DynamoDB item (400 KB) and of an agent's request (1 MiB with all results).
MAX_ORDER_BYTES = 350_000
_ID = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
_SHORT = r"[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}"
_WORKFLOW = r"[a-z][a-z0-9_-]{0,39}"
_KEY = rf"(?:{_WORKFLOW}~(?:{_SHORT})?~)?{_ID}(?:#[a-z0-9_-]{{1,40}}(?:\.[0-9]{{1,3}})?){{0,3}}"
# Bounded runs: a text of nothing but backslashes must not cost the square of its length.
_ID_SOMEWHERE = re.compile(rf'"orderId\\{{0,7}}"\s{{0,9}}:\s{{0,9}}\\{{0,7}}"({_KEY})\\{{0,7}}"')

_TOKEN = re.compile(r'(\\{0,7}"callback\\{0,7}"\s{0,9}:\s{0,9}\\{0,7}")[^"\\]*')

OrderId = Annotated[str, msgspec.Meta(pattern=rf"\A{_ID}\Z")]
KeyText = Annotated[str, msgspec.Meta(pattern=rf"\A{_KEY}\Z", max_length=LONGEST_KEY)]
WorkflowName = Annotated[str, msgspec.Meta(max_length=40)]
ShortText = Annotated[str, msgspec.Meta(pattern=rf"\A{_SHORT}\Z")]
Address = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][!-~]{0,255}\Z")]
CallbackToken = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,600}\Z")]
Version = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]


class OrderMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields of every order; an application adds its own in a subclass.

    An optional field may be null. Fields that the class does not name are kept with the order. The type says which
    workflow the order is for: a subclass declares that of its own, `type: Literal["return.submitted"]`, or has
    "order.submitted".
    """

    order_id: OrderId
    type: str
    version: Version
    submitted_at: Timestamp
    complete_by: Timestamp | None = None
    correlation_id: ShortText | None = None
    reply_to: Address | None = None
    customer_id: ShortText | None = None
    priority: Literal["normal", "high"] = "normal"


class Cancellation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submitter cancels an order."""

    order_id: OrderId
    type: Literal["order.cancelled"]
    workflow: WorkflowName | None = None
    customer_id: ShortText | None = None
    reason: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class SignalMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submitter gives a signal that a step waits for, or refuses it; `signal_id` is the sender's own name for it."""

    order_id: OrderId
    type: Literal["order.signal"]
    name: Annotated[str, msgspec.Meta(pattern=rf"\A{_WORKFLOW}\Z")]
    signal_id: ShortText
    data: dict[str, Any] | None = None
    refused: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    workflow: WorkflowName | None = None
    customer_id: ShortText | None = None


class StepCompleted(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A service has done the step that it took over; `callback` is the token that came with the call."""

    type: Literal["step.completed"]
    callback: CallbackToken
    result: dict[str, Any] = {}


class StepRefused(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A service has refused the step that it took over."""

    type: Literal["step.failed"]
    callback: CallbackToken
    error: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An order, the type of its message, the reply queue and correlation id, or "", and its complete-by, or None."""

    order: Order
    type: str
    reply_to: str = ""
    correlation_id: str = ""
    complete_by: int | None = None


Schemas = Mapping[str, type[OrderMessage]]
"""The classes of order messages by their type; a type that is not here is that of OrderMessage itself."""
_PLAIN: Schemas = {}
Taken = Accepted | Cancel | SignalGiven | Callback | Ignored


def accept(text: str, schemas: Schemas = _PLAIN, keys: Keys = ANY, sources: Sequence[Source] = ()) -> Taken:
    """What a message from the orders queue wants; raises Rejected with field and reason."""
    content = open_envelope(text, adapt=partial(order_message, sources=sources, keys=keys))
    if isinstance(content, Ignored):
        return content
    match content.get("type"):
        case "order.cancelled":
            return _cancel(converted(content, Cancellation), keys)
        case "order.signal":
            return _signal(converted(content, SignalMessage), keys)
        case "step.completed" | "step.failed":
            return _callback(content)
        case _:
            return accepted(content, schemas, keys)


def _cancel(message: Cancellation, keys: Keys) -> Cancel:
    customer_id = message.customer_id or ""
    key = keys.key(message.order_id, customer_id, message.workflow or "")
    return Cancel(key, "the submitter", message.reason or "cancelled", customer_id)


def _callback(content: Mapping[str, object]) -> Callback:
    """A service's answer, whose token only the Scheduler can check."""
    if content["type"] == "step.failed":
        failed = converted(content, StepRefused)
        return Callback(failed.callback, error=failed.error)
    done = converted(content, StepCompleted)
    _check_size("result", done.result)
    return Callback(done.callback, done.result)


def _signal(message: SignalMessage, keys: Keys) -> SignalGiven:
    """The signal, which came by the submitters' door."""
    if (message.data is None) == (message.refused is None):
        raise Rejected("data", "is the signal's answer, and refused says why there is none; send one of the two")
    return SignalGiven(
        order_id=keys.key(message.order_id, message.customer_id or "", message.workflow or ""),
        step=message.name,
        signal_id=message.signal_id,
        data=message.data or {},
        refused=message.refused or "",
        who="the submitter",
        door=SUBMITTERS,
        customer_id=message.customer_id or "",
    )


def check_signal(signal: SignalGiven, schema: type[Any] | None = None) -> None:
    """Refuse data that does not fit its class, or is too large; raises Rejected with the field."""
    _check_size("data", signal.data)
    if schema is not None and not signal.refused:
        try:
            converted(signal.data, schema)
        except Rejected as error:
            raise Rejected(f"data.{error.field}" if error.field != BODY else "data", error.reason) from error


def _check_size(name: str, data: Mapping[str, Any]) -> None:
    if (size := len(strict_json.canonical(data))) > MOST_DATA_BYTES:
        raise Rejected(name, f"is {size:,} bytes of JSON; the limit is {MOST_DATA_BYTES:,}")


def accepted(content: Mapping[str, object], schemas: Schemas = _PLAIN, keys: Keys = ANY) -> Accepted:
    """The order in `content`; raises Rejected with field and reason."""
    said = content.get("type")
    workflow = keys.submitted(said) if isinstance(said, str) else ""
    message = converted(content, schemas.get(str(said), OrderMessage))
    body = sized(strict_json.canonical(content))
    order = Order.of(keys.key(message.order_id, message.customer_id or "", workflow), body)
    limit = check_complete_by(_ms(message.complete_by), _ms(message.submitted_at)) if message.complete_by else None
    return Accepted(order, message.type, message.reply_to or "", message.correlation_id or "", limit)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


class Sender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who sent an order message, and for which order: all that is needed to answer it."""

    order_id: OrderId
    type: str
    reply_to: Address
    correlation_id: ShortText | None = None


def sender_of(text: str, keys: Keys) -> Sender | None:
    """The sender of an order message that was rejected; None if it does not say where an answer goes."""
    try:
        content = open_envelope(text, strict_json.parse_unchecked)
        sender = None if isinstance(content, Ignored) else converted(content, Sender)
    except Rejected:
        return None
    return sender if sender and sender.type in keys.types else None


def masked(text: str) -> str:
    """The text of a message without its callback token, which is a secret."""
    return _TOKEN.sub(r"\1(a token)", text)


def sized(body: str, most: int = MAX_ORDER_BYTES) -> str:
    """`body` itself, a canonical JSON text; raises Rejected if it is too large."""
    if len(body) > most:
        raise Rejected(BODY, f"is {len(body):,} bytes as canonical JSON; the limit is {most:,}")
    return body


def order_id_hint(text: str) -> str:
    """The id of the order (or the task's key) that a rejected message seems to be about; "" if unclear."""
    found = set(_ID_SOMEWHERE.findall(text))
    return found.pop() if len(found) == 1 else ""
