"""The shops whose own events this application understands; each source turns one shape into an order event.

A source looks for the marks of its shape first, and answers None if they are not there. What it cannot tell from the
message it leaves out: a create without its lines stops its order visibly, where a guess would ship the wrong goods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orders.sources_numbered import numbered_message
from orders.sources_webhook import webhook_delivery
from stepward import Rejected, Source

FETCH = "fetch the order where it comes from, then send a create with its items"


def marketplace_notice(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A marketplace's notice that an order has changed; it holds no lines, so it is refused."""
    if not {"NotificationType", "Payload"} <= content.keys():
        return None
    kind = content["NotificationType"]
    if kind != "ORDER_CHANGE":
        raise Rejected("NotificationType", f"is {kind!r}; only ORDER_CHANGE is about an order")
    raise Rejected("Payload.OrderChangeNotification.Summary.OrderItems", f"names no lines to fulfil; {FETCH}")


def thin_webhook(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A webhook with nothing but a scope and a number, or a topic and an address; it is refused."""
    if {"scope", "data", "producer"} <= content.keys():
        raise Rejected("data", f"holds only the order's number; {FETCH}")
    if {"topic", "resource", "sent_at"} <= content.keys():
        raise Rejected("resource", f"is only the order's address; {FETCH}")
    return None


SOURCES: tuple[Source, ...] = (numbered_message, webhook_delivery, marketplace_notice, thin_webhook)
