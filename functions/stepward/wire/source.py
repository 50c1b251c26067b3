"""Sources: an application's adapters of what other systems send, at every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stepward.domain.errors import Rejected
from stepward.domain.key import Keys
from stepward.wire.envelope import Ignored

Source = Callable[[Any], Mapping[str, Any] | Ignored | None]
"""Turns what one kind of system sends, any JSON value, into an event of ours; None if it is of another kind.

Ignored is what needs no work, in a sequence without numbers. An event with `invalid`, a field and a reason, stops its
order. It may call that system, within a second or so, for what a thin event lacks. Raises Rejected, or Transient to
have the message come again.
"""

INVALID, TEXT = "stepward:invalid", "stepward:text"
"""Names of ours, which mean nothing in a sender's event: why an event is invalid, and the text that it came in."""
BROUGHT_BY = ("ledgerId", "index", "customerId")
"""The fields that say how an event came; they are no part of its content."""
NO_CONTENT = frozenset({"workflow", *BROUGHT_BY})
OF_THE_LANE = frozenset({"op", "sequence", "modifies", "end", "asOf", *NO_CONTENT})


def adapted(content: object, sources: Sequence[Source]) -> Mapping[str, Any] | Ignored | None:
    """`content` as our own event, by the first source that knows its shape; None if none does. Raises Rejected."""
    event = next((event for source in sources if (event := source(content)) is not None), None)
    if not isinstance(event, Mapping) or not isinstance(invalid := event.get("invalid"), str):
        return event
    return {name: value for name, value in event.items() if name not in {"invalid", "op"}} | {INVALID: invalid}


def check_valid(event: Mapping[str, Any]) -> None:
    """Raise Rejected if this event is marked as invalid."""
    if isinstance(invalid := event.get(INVALID), str):
        field, _, reason = invalid.partition(": ")
        raise Rejected(field, reason)


def order_in(event: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The order message, of this type, that a create stands for."""
    order = {name: value for name, value in event.items() if name not in OF_THE_LANE}
    brought = {"customerId": event["customerId"]} if event.get("customerId") else {}
    return {"version": 1, **order, **brought, "type": kind}


def order_message(content: object, sources: Sequence[Source], keys: Keys) -> Mapping[str, Any] | Ignored | None:
    """What another system's event says to the orders queue: an order, or its cancellation; see `adapted`."""
    event = adapted(content, sources)
    if event is None or isinstance(event, Ignored):
        return event
    check_valid(event)
    match event.get("op"):
        case None:
            return event
        case "create":
            keys.check_workflow(workflow := str(event.get("workflow") or ""))
            return order_in(event, keys.type_of(workflow))
        case "delete":
            said = {name: event[name] for name in ("orderId", "customerId", "workflow", "reason") if name in event}
            return {**said, "type": "order.cancelled"}
    raise Rejected(
        "op", f"is {event['op']!r}; the orders queue takes orders and cancellations, order events go to the convoy"
    )
