"""An order of the numbered platform: its items, and whatever else its total consists of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from orders.shops.fields import at, is_list, is_object, listed, said
from orders.shops.totals import accounted, money

CANCELLED = "Cancelled"
_MOST_DIGITS, _MOST_PRECISE_DIGITS = 4, 20
_TAXED = (("totalPrice",), ("taxedPrice", "totalNet"), ("taxedPrice", "totalGross"))


def created(order: object) -> Mapping[str, Any]:
    """An order as a create; an invalid event if its parts do not come to its total."""
    if not is_object(order):
        return {"invalid": "order: is missing; fetch the order, and replace the event by a create"}
    if order.get("orderState") == CANCELLED:
        return {"invalid": "orderState: the platform has cancelled this order already; skip it and its cancellation"}
    currency, lines = at(order, "totalPrice", "currencyCode"), order.get("lineItems")
    if others := set(_currencies(order)) - {currency}:
        named = ", ".join(sorted(map(str, others)))
        return {"invalid": f"currency: the total is in {currency}, but there are prices in {named}; ask the shop"}
    fields: Mapping[str, Any] = {}
    if is_list(lines):
        taxed = at(order, "taxedPrice", "totalGross") or order.get("totalPrice")
        fields = accounted([item(line) for line in lines], dict(_adjustments(order, lines)), _stated(taxed), currency)
    if "invalid" in fields:
        return fields
    return {"op": "create", **said({"submittedAt": order.get("createdAt"), "currency": currency}), **fields}


def added(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line that was added, as an add; an invalid event if its total is not its price times its quantity."""
    line, quantity = content.get("lineItem"), content.get("addedQuantity")
    whole = item(line)
    fields = accounted([whole], {}, _stated(at(line, "totalPrice")), at(line, "totalPrice", "currencyCode"))
    if "invalid" in fields:
        return fields
    return {"op": "add", "item": {**whole, "qty": quantity} if whole and quantity is not None else whole}


def item(line: object) -> Mapping[str, Any] | None:
    """A line as an item, without the fields that the line lacks."""
    if not is_object(line):
        return None
    price = _unit_price(line)
    unit = None if price is None else f"{price:f}"
    return said({"sku": at(line, "variant", "sku"), "qty": line.get("quantity"), "unitPrice": unit})


def amount(value: object) -> Decimal | None:
    """Minor units as an amount: 2460 is 24.60 with two fraction digits, and 125 precise ones are 0.0125 with four."""
    if not is_object(value):
        return None
    precise = value.get("preciseAmount")
    minor, most = (value.get("centAmount"), _MOST_DIGITS) if precise is None else (precise, _MOST_PRECISE_DIGITS)
    digits = value.get("fractionDigits")
    if type(minor) is not int or type(digits) is not int or not 0 <= digits <= most:
        return None
    return money(f"{Decimal(minor).scaleb(-digits):.{digits}f}")


def _adjustments(order: Mapping[str, Any], lines: Sequence[object]) -> Iterator[tuple[str, Decimal]]:
    """What is not the price of an item; what this adapter does not know makes the parts miss the total."""
    changes = [_line_change(line) for line in lines]
    yield "rounding", sum((change for change in changes if change > 0), Decimal(0))
    on_total = amount(at(order, "discountOnTotalPrice", "discountedAmount")) or 0
    yield "discount", sum((change for change in changes if change < 0), Decimal(0)) - on_total
    yield "custom-items", sum(map(_custom, listed(order, "customLineItems")), Decimal(0))
    yield "shipping", sum(map(_shipping, [order, *listed(order, "shipping")]), Decimal(0))
    price, net, gross = (amount(at(order, *path)) for path in _TAXED)
    if net is not None and gross is not None and price == net:
        yield "tax", gross - net


def _line_change(line: object) -> Decimal:
    """What the line's own total differs by from price times quantity."""
    total, quantity = amount(at(line, "totalPrice")), at(line, "quantity")
    unit = _unit_price(line)
    return Decimal(0) if total is None or unit is None or type(quantity) is not int else total - unit * quantity


def _custom(line: object) -> Decimal:
    """A line without an article, such as a gift wrapping."""
    total, each, quantity = amount(at(line, "totalPrice")), amount(at(line, "money")), at(line, "quantity")
    if total is None and each is not None and type(quantity) is int:
        total = each * quantity
    return total or Decimal(0)


def _shipping(order: object) -> Decimal:
    price = at(order, "shippingInfo", "discountedPrice", "value") or at(order, "shippingInfo", "price")
    return amount(price) or Decimal(0)


def _unit_price(line: object) -> Decimal | None:
    return amount(at(line, "price", "discounted", "value") or at(line, "price", "value"))


def _stated(value: object) -> object:
    """The amount that is stated; what is no money as it is, so that it is complained of."""
    found = amount(value)
    return value if found is None else found


def _currencies(order: Mapping[str, Any]) -> Iterator[object]:
    """The currency of each price that counts; an article may list prices in others."""
    lines = listed(order, "lineItems") + listed(order, "customLineItems")
    prices = [at(line, *path) for line in lines for path in (("price", "value"), ("money",), ("totalPrice",))]
    prices += [at(order, *path) for path in (("shippingInfo", "price"), ("taxedPrice", "totalGross"))]
    return filter(None, (at(price, "currencyCode") for price in prices))
