"""Webhook deliveries of a web shop, in the format of Shopify: without numbers, each with the order's whole state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepward import Rejected

TOPIC, DELIVERY = "x-shopify-topic", "x-shopify-webhook-id"
_CREATED, _CANCELLED = "orders/create", "orders/cancelled"
_CHANGED = frozenset({"orders/updated", "orders/edited", "orders/paid", "orders/fulfilled"})
_SHAPES = (("headers", "body"), ("metadata", "payload"))
"""The formats of a webhook receiver, and of the shop's own messages on an event bus."""


def webhook_delivery(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A delivery of the shop as an event of an order without sequence numbers.

    The delivery's id identifies a repeated delivery, the order's `updated_at` a late one. A change that arrives before
    the create waits for it. Raises Rejected if the topic is not about orders.
    """
    for about, order in _SHAPES:
        headers, body = content.get(about), content.get(order)
        if isinstance(headers, Mapping) and isinstance(body, Mapping):
            named = {name.lower(): value for name, value in headers.items()}
            if TOPIC in named:
                return _event(named, body)
    return None


def _event(headers: Mapping[str, Any], body: Mapping[str, Any]) -> Mapping[str, Any]:
    origin = {"orderId": _text(body.get("id")), "ledgerId": headers.get(DELIVERY), "index": 0}
    fields = {**origin, "asOf": body.get("updated_at"), **_change(headers[TOPIC], body)}
    return {name: value for name, value in fields.items() if value is not None}


def _change(topic: object, body: Mapping[str, Any]) -> Mapping[str, Any]:
    if topic == _CREATED:
        # A new order was last updated when it was created.
        return {"op": "create", "submittedAt": body.get("created_at") or body.get("updated_at"), **_whole(body)}
    if topic == _CANCELLED:
        return {"op": "delete", "reason": body.get("cancel_reason") or "cancelled at the shop"}
    if isinstance(topic, str) and topic in _CHANGED:
        state = {"amount": body.get("total_price"), "status": body.get("financial_status")}
        # Without numbers, the create is always event 1.
        return {"op": "modify", "modifies": 1, **_whole(body), **state}
    raise Rejected("X-Shopify-Topic", f"is {topic!r}; this shop acts on no such topic")


def _whole(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order's lines and their currency: the shop's own, not the one that the customer saw."""
    lines = body.get("line_items")
    items = [_item(line) for line in lines] if isinstance(lines, list) else None
    stated, priced = body.get("currency"), _shop_currency(body.get("total_price_set"))
    if stated and priced and stated != priced:
        return {"invalid": f"currency: is {stated!r}, but the total is in {priced!r}; ask the shop which one counts"}
    return {"currency": stated or priced, "items": items}


def _shop_currency(prices: object) -> object:
    money = prices.get("shop_money") if isinstance(prices, Mapping) else None
    return money.get("currency_code") if isinstance(money, Mapping) else None


def _item(line: object) -> object:
    if not isinstance(line, Mapping):
        return line
    fields = {"sku": line.get("sku"), "qty": line.get("quantity"), "unitPrice": line.get("price")}
    return {name: value for name, value in fields.items() if value is not None}


def _text(number: object) -> object:
    """A number as text: some JSON readers lose digits of large numbers."""
    return str(number) if type(number) is int else number
