"""Webhook deliveries of a web shop in the shape of Shopify's: without numbers, each with the order's whole state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepward import Rejected

TOPIC, DELIVERY = "x-shopify-topic", "x-shopify-webhook-id"
_CREATED, _CANCELLED = "orders/create", "orders/cancelled"
_CHANGED = frozenset({"orders/updated", "orders/edited", "orders/paid", "orders/fulfilled"})
_SHAPES = (("headers", "body"), ("metadata", "payload"))
"""As whoever receives webhooks passes them on, and as the shop itself puts them on an event bus."""


def webhook_delivery(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A delivery of the shop as an order event of an order without sequence numbers.

    The delivery's id tells a repeated delivery, the order's `updated_at` a late one; a change that comes before the
    create waits for it. Raises Rejected if it is not about an order's life.
    """
    for about, order in _SHAPES:
        headers, body = content.get(about), content.get(order)
        if isinstance(headers, Mapping) and isinstance(body, Mapping):
            named = {name.lower(): value for name, value in headers.items()}
            if TOPIC in named:
                return _event(named, body)
    return None


def _event(headers: Mapping[str, Any], body: Mapping[str, Any]) -> Mapping[str, Any]:
    brought = {
        "orderId": _text(body.get("id")),
        "ledgerId": headers.get(DELIVERY),
        "index": 0,
        "asOf": body.get("updated_at"),
    }
    said = {**brought, **_said(headers[TOPIC], body)}
    return {name: value for name, value in said.items() if value is not None}


def _said(topic: object, body: Mapping[str, Any]) -> Mapping[str, Any]:
    if topic == _CREATED:
        # An order that has just been created was last updated when it was created.
        return {"op": "create", "submittedAt": body.get("created_at") or body.get("updated_at"), **_whole(body)}
    if topic == _CANCELLED:
        return {"op": "delete", "reason": body.get("cancel_reason") or "cancelled at the shop"}
    if isinstance(topic, str) and topic in _CHANGED:
        state = {"amount": body.get("total_price"), "status": body.get("financial_status")}
        # Without numbers the create always has the first place.
        return {"op": "modify", "modifies": 1, **_whole(body), **state}
    raise Rejected("X-Shopify-Topic", f"is {topic!r}; it says nothing of an order that this shop acts on")


def _whole(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order's lines and their currency, which is the shop's own, not the one that the customer was shown."""
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
    said = {"sku": line.get("sku"), "qty": line.get("quantity"), "unitPrice": line.get("price")}
    return {name: value for name, value in said.items() if value is not None}


def _text(number: object) -> object:
    """A number beyond what some readers of JSON keep exactly, as text."""
    return str(number) if type(number) is int else number
