"""Webhook deliveries of a web shop, in the format of Shopify: without numbers, each with the order's whole state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from orders.shops.fields import at, is_list, is_object, listed, said
from orders.shops.totals import accounted, money
from stepward import Ignored, Rejected

TOPIC, DELIVERY, TEST = "x-shopify-topic", "x-shopify-webhook-id", "x-shopify-test"
_CREATED, _CANCELLED = "orders/create", "orders/cancelled"
_CHANGED = frozenset({"orders/updated", "orders/edited", "orders/paid", "orders/fulfilled"})
_SHAPES = (("headers", "body"), ("metadata", "payload"))
"""The formats of a webhook receiver, and of the shop's own messages on an event bus."""


def webhook_delivery(content: object) -> Mapping[str, Any] | Ignored | None:
    """A delivery of the shop as an event of an order without sequence numbers.

    The delivery's id identifies a repeated delivery, the order's `updated_at` a late one. A change that arrives before
    the create waits for it. A test order is ignored. Raises Rejected if the topic is not about orders.
    """
    for about, order in _SHAPES:
        headers, body = at(content, about), at(content, order)
        if is_object(headers) and is_object(body):
            named = {name.lower(): value for name, value in headers.items()}
            if TOPIC in named:
                is_test = any(_is_set(flag) for flag in (named.get(TEST), body.get("test")))
                return Ignored("a test order of the shop") if is_test else _event(named, body)
    return None


def _is_set(flag: object) -> bool:
    return flag is not None and str(flag).strip().lower() not in {"", "false", "0"}


def _event(headers: Mapping[str, Any], body: Mapping[str, Any]) -> Mapping[str, Any]:
    topic = headers[TOPIC]
    is_over = topic == _CANCELLED or (topic in _CHANGED and _is_set(body.get("cancelled_at")))
    # The shop sends a cancellation under several topics; for an order it is one event.
    origin = {
        "orderId": _text(body.get("id")),
        "ledgerId": _CANCELLED if is_over else headers.get(DELIVERY),
        "index": 0,
    }
    change = _cancellation(body) if is_over else _change(topic, body)
    return said({**origin, "asOf": body.get("updated_at"), **change})


def _cancellation(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"op": "delete", "reason": body.get("cancel_reason") or "cancelled at the shop"}


def _change(topic: object, body: Mapping[str, Any]) -> Mapping[str, Any]:
    if topic != _CREATED and not (isinstance(topic, str) and topic in _CHANGED):
        raise Rejected("X-Shopify-Topic", f"is {topic!r}; this shop acts on no such topic")
    if _is_set(body.get("cancelled_at")):
        return {"invalid": "cancelled_at: the shop has cancelled this order already; skip it and its cancellation"}
    whole = _whole(body)
    if "invalid" in whole:
        return whole
    if topic == _CREATED:
        # A new order was last updated when it was created.
        return {"op": "create", "submittedAt": body.get("created_at") or body.get("updated_at"), **whole}
    state = {"amount": body.get("total_price"), "status": body.get("financial_status")}
    # Without numbers, the create is always event 1.
    return {"op": "modify", "modifies": 1, **whole, **state}


def _whole(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order's lines, whatever else its total consists of, and the currency: the shop's own, not the customer's.

    What the shop has refunded or edited away shows in the current total alone, which the lines then miss.
    """
    lines = body.get("line_items")
    stated, priced = body.get("currency"), _shop_money(body, "total_price_set", "currency_code")
    if stated and priced and stated != priced:
        return {"invalid": f"currency: is {stated!r}, but the total is in {priced!r}; ask the shop which one counts"}
    currency = stated or priced
    if not is_list(lines):
        return {"currency": currency}
    total = body.get("current_total_price") or body.get("total_price") or _shop_money(body, "total_price_set", "amount")
    fields = accounted([_item(line) for line in lines], dict(_adjustments(body)), total, currency)
    return fields if "invalid" in fields else {"currency": currency, **fields}


def _adjustments(body: Mapping[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """What is not the price of an item; what this adapter does not know makes the parts miss the total."""
    shipping = listed(body, "shipping_lines")
    total_of_shipping = money(_shop_money(body, "total_shipping_price_set", "amount"))
    yield "discount", -(money(body.get("total_discounts")) or Decimal(0))
    if total_of_shipping is None:
        total_of_shipping = sum((money(at(line, "price")) or Decimal(0) for line in shipping), Decimal(0))
    yield "shipping", total_of_shipping
    if not body.get("taxes_included"):
        yield "tax", money(body.get("total_tax")) or Decimal(0)
    yield "tip", money(body.get("total_tip_received")) or Decimal(0)
    yield "duties", money(_shop_money(body, "original_total_duties_set", "amount")) or Decimal(0)


def _shop_money(body: Mapping[str, Any], prices: str, name: str) -> object:
    return at(body, prices, "shop_money", name)


def _item(line: object) -> object:
    if not is_object(line):
        return line
    return said({"sku": line.get("sku"), "qty": line.get("quantity"), "unitPrice": line.get("price")})


def _text(number: object) -> object:
    """A number as text: some JSON readers lose digits of large numbers."""
    return str(number) if type(number) is int else number
