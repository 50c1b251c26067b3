"""JSON Schema of each message that crosses the border of a deployment, made from the classes that check it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from stepward.domain.messages.notices import Status
from stepward.domain.workflow.application import App
from stepward.wire.ledger import LedgerMessage
from stepward.wire.order import Cancellation, OrderMessage, SignalMessage, StepCompleted, StepRefused, Timestamp
from stepward.wire.order_event import EventMessage

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class StatusNotice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submitter's order has reached a state; `revision` only rises."""

    type: Literal["order.status"]
    order_id: str
    workflow: str
    customer_id: str | None
    correlation_id: str | None
    status: Status
    step: str | None
    reason: str | None
    revision: int
    at: Timestamp


class RejectNotice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submitter's message was rejected; `reason` names the field and what is wrong with it."""

    type: Literal["order.rejected"]
    order_id: str
    correlation_id: str | None
    reason: str
    at: Timestamp


class _Alert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    alert_id: str
    reason: str
    at: int
    """Epoch milliseconds."""
    order_id: str | None = None
    workflow: str | None = None
    customer_id: str | None = None
    stack: str | None = None


class StepFailedEvent(_Alert, frozen=True, kw_only=True, rename="camel"):
    """A step ended in Error, or an undo did, which leaves `remainingEffects`."""

    step: str
    attempt: int
    remaining_effects: list[str]


class StepWaitsEvent(_Alert, frozen=True, kw_only=True, rename="camel"):
    """A step waits for a deployment, or for a signal that nobody has given yet."""

    step: str
    attempt: int
    signal: bool = False


class AgentDefectEvent(_Alert, frozen=True, kw_only=True, rename="camel"):
    """An agent's code or a setting is at fault in several orders, or no longer, if it is `over`."""

    agent: str
    operation: str
    error: str
    orders: int
    since: int
    over: bool


class LaneWaitsEvent(_Alert, frozen=True, kw_only=True, rename="camel"):
    """The lane of an order waits at an event."""

    event: str
    trouble: Literal["blocked", "gap", "idle"]


_SENT: Mapping[str, type[msgspec.Struct]] = {
    "order.cancelled": Cancellation,
    "order.signal": SignalMessage,
    "step.completed": StepCompleted,
    "step.failed": StepRefused,
    "ledger": LedgerMessage,
}
RECEIVED: Mapping[str, type[msgspec.Struct]] = {
    "order.status": StatusNotice,
    "order.rejected": RejectNotice,
    "stepward.step.failed": StepFailedEvent,
    "stepward.undo.failed": StepFailedEvent,
    "stepward.step.waits": StepWaitsEvent,
    "stepward.agent.defect": AgentDefectEvent,
    "stepward.lane.blocked": LaneWaitsEvent,
    "stepward.lane.gap": LaneWaitsEvent,
    "stepward.lane.idle": LaneWaitsEvent,
}
"""What the engine sends to submitters, and to EventBridge as the detail of an event, by its type."""


def sent_to(app: App) -> Mapping[str, type[Any]]:
    """The classes of what may be sent to `app`, by the type of the message; a signal's data is `order.signal NAME`."""
    signals = {name: it for each in app.workflows for name, it in each.signals.items()}
    return {
        **{kind: app.schemas.get(kind, OrderMessage) for kind in app.plans()},
        **_SENT,
        **{f"order.signal {name}": it for name, it in signals.items()},
        "order event": app.event or EventMessage,
    }


def schemas(app: App) -> Mapping[str, Schema]:
    """The JSON Schema of every message, by its type."""
    return {kind: schema_of(kind, it) for kind, it in {**sent_to(app), **RECEIVED}.items()}


def schema_of(kind: str, message: type[Any]) -> Schema:
    """The JSON Schema of a class of messages; its `type`, if it has one, is `kind`."""
    (made,), parts = msgspec.json.schema_components([message], ref_template="#/$defs/{name}")
    whole: Schema = {"$schema": _DIALECT, **made, "$defs": parts}
    own = parts[made["$ref"].rpartition("/")[2]]
    if "type" in own["properties"]:
        own["properties"]["type"] = {"const": kind}
    portable: Schema = _portable(whole)
    return portable


def _portable(part: Any) -> Any:
    """The same with patterns that other languages read, too: they know no `\\A` and no `\\Z`."""
    match part:
        case {"pattern": str(pattern), **rest}:
            return {"pattern": pattern.replace(r"\A", "^").replace(r"\Z", "$"), **_portable(rest)}
        case dict():
            return {key: _portable(value) for key, value in part.items()}
        case list():
            return [_portable(value) for value in part]
    return part
