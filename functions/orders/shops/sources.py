"""The sources of this application; each turns the messages of one shop into order events.

A source returns None for a message in another format. It leaves out what the message does not say: a create without
lines stops its order visibly, while a guess would ship the wrong goods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orders.shops.fields import is_object
from orders.shops.numbered import numbered_message
from orders.shops.webhook import webhook_delivery
from stepward import Rejected, Source

FETCH = "fetch the order from its shop, then send a create with its items"


def marketplace_notice(content: object) -> Mapping[str, Any] | None:
    """Rejects a marketplace's notice of a changed order: it has no lines."""
    if not is_object(content) or not {"NotificationType", "Payload"} <= content.keys():
        return None
    kind = content["NotificationType"]
    if kind != "ORDER_CHANGE":
        raise Rejected("NotificationType", f"is {kind!r}; only ORDER_CHANGE is about an order")
    raise Rejected("Payload.OrderChangeNotification.Summary.OrderItems", f"names no lines to fulfil; {FETCH}")


def thin_webhook(content: object) -> Mapping[str, Any] | None:
    """Rejects a webhook that has only a scope and a number, or a topic and an address."""
    if not is_object(content):
        return None
    if {"scope", "data", "producer"} <= content.keys():
        raise Rejected("data", f"holds only the order's number; {FETCH}")
    if {"topic", "resource", "sent_at"} <= content.keys():
        raise Rejected("resource", f"is only the order's address; {FETCH}")
    return None


SOURCES: tuple[Source, ...] = (numbered_message, webhook_delivery, marketplace_notice, thin_webhook)
