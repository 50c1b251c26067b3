"""Order messages: the fields that every order must have, and what is refused in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Literal

import msgspec

from stepward.domain.errors import Rejected
from stepward.domain.key import ANY, LONGEST_KEY, Keys
from stepward.domain.messages import Cancel
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
_KEY = rf"(?:{_WORKFLOW}~(?:{_SHORT})?~)?{_ID}"
# Bounded runs: a text of nothing but backslashes must not cost the square of its length.
_ID_SOMEWHERE = re.compile(rf'"orderId\\{{0,7}}"\s{{0,9}}:\s{{0,9}}\\{{0,7}}"({_KEY})\\{{0,7}}"')

OrderId = Annotated[str, msgspec.Meta(pattern=rf"\A{_ID}\Z")]
KeyText = Annotated[str, msgspec.Meta(pattern=rf"\A{_KEY}\Z", max_length=LONGEST_KEY)]
WorkflowName = Annotated[str, msgspec.Meta(max_length=40)]
ShortText = Annotated[str, msgspec.Meta(pattern=rf"\A{_SHORT}\Z")]
Address = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][!-~]{0,255}\Z")]
Version = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]


class OrderMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields of every order; an application adds its own in a subclass.

    An optional field may be null. Fields that the class does not name are kept with the order.
    """

    order_id: OrderId
    type: Literal["order.submitted"]
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


@dataclass(frozen=True, slots=True)
class Accepted:
    """An order, the reply queue and correlation id of its message, or "", and its complete-by (epoch ms), or None."""

    order: Order
    reply_to: str = ""
    correlation_id: str = ""
    complete_by: int | None = None


def accept(
    text: str, schema: type[OrderMessage], keys: Keys = ANY, sources: Sequence[Source] = ()
) -> Accepted | Cancel | Ignored:
    """The order in a message, or its cancellation, or what needs no work; raises Rejected with field and reason."""
    content = open_envelope(text, adapt=partial(order_message, sources=sources))
    if isinstance(content, Ignored):
        return content
    if content.get("type") == "order.cancelled":
        cancelled = converted(content, Cancellation)
        customer_id = cancelled.customer_id or ""
        key = keys.key(cancelled.order_id, customer_id, cancelled.workflow or "")
        return Cancel(key, "the submitter", cancelled.reason or "cancelled", customer_id)
    return accepted(content, schema, keys)


def accepted(content: Mapping[str, object], schema: type[OrderMessage], keys: Keys = ANY) -> Accepted:
    """The order in `content`; raises Rejected with field and reason."""
    message = converted(content, schema)
    body = sized(strict_json.canonical(content))
    key = keys.key(message.order_id, message.customer_id or "")
    order = Order(key, body, hashlib.sha256(body.encode()).hexdigest())
    limit = check_complete_by(_ms(message.complete_by), _ms(message.submitted_at)) if message.complete_by else None
    return Accepted(order, message.reply_to or "", message.correlation_id or "", limit)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


class Sender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who sent an order message, and for which order: all that is needed to answer it."""

    order_id: OrderId
    type: Literal["order.submitted"]
    reply_to: Address
    correlation_id: ShortText | None = None


def sender_of(text: str) -> Sender | None:
    """The sender of an order message that was rejected; None if it does not say where an answer goes."""
    try:
        content = open_envelope(text, strict_json.parse_unchecked)
        return None if isinstance(content, Ignored) else converted(content, Sender)
    except Rejected:
        return None


def sized(body: str) -> str:
    """`body` itself, a canonical JSON text; raises Rejected if it is too large."""
    if len(body) > MAX_ORDER_BYTES:
        raise Rejected(BODY, f"is {len(body):,} bytes as canonical JSON; the limit is {MAX_ORDER_BYTES:,}")
    return body


def order_id_hint(text: str) -> str:
    """The id of the order (or the task's key) that a rejected message seems to be about; "" if unclear."""
    found = set(_ID_SOMEWHERE.findall(text))
    return found.pop() if len(found) == 1 else ""
