"""Messages of a commerce platform, in the format of commercetools: numbered without gaps for each order."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from stepward import Rejected

_STATES = {
    "OrderStateChanged": "orderState",
    "OrderPaymentStateChanged": "paymentState",
    "OrderShipmentStateChanged": "shipmentState",
}
_CANCELLED = "Cancelled"


def numbered_message(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A message of the platform as an order event; its `sequenceNumber` is the event's sequence.

    A message that it does not understand becomes an invalid event, which says what to do: without it, the lane would
    have a gap. Raises Rejected if the message is not about an order.
    """
    if not {"notificationType", "resource", "sequenceNumber"} <= content.keys():
        return None
    resource = content["resource"]
    if not isinstance(resource, Mapping) or resource.get("typeId") != "order":
        raise Rejected("resource.typeId", "is not order; subscribe this queue to the messages of orders only")
    return {"orderId": resource.get("id"), "sequence": content["sequenceNumber"], **_change(content)}


def _change(content: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = content.get("type")
    if "payloadNotIncluded" in content:
        return {"invalid": "payloadNotIncluded: fetch this message from the platform, and replace the event by it"}
    if kind == "OrderCreated":
        return _create(content.get("order"))
    if kind == "OrderDeleted":
        return {"op": "delete", "reason": "deleted at the platform"}
    if kind == "OrderLineItemAdded":
        return {"op": "add", "item": _item(content.get("lineItem"))}
    if isinstance(kind, str) and kind in _STATES:
        return _state(kind, content)
    return {"invalid": f"type: this shop does not understand {kind!r}; skip the event or replace it"}


def _state(kind: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    state = content.get(_STATES[kind])
    if kind == "OrderStateChanged" and state == _CANCELLED:
        return {"op": "delete", "reason": "cancelled at the platform"}
    return {"op": "add", "status": state, "statusOf": _STATES[kind]}


def _create(order: object) -> Mapping[str, Any]:
    if not isinstance(order, Mapping):
        return {"invalid": "order: is missing; fetch the order, and replace the event by a create"}
    total, lines = order.get("totalPrice"), order.get("lineItems")
    fields = {
        "submittedAt": order.get("createdAt"),
        "currency": total.get("currencyCode") if isinstance(total, Mapping) else None,
        "items": [_item(line) for line in lines] if isinstance(lines, list) else None,
    }
    return {"op": "create", **{name: value for name, value in fields.items() if value is not None}}


def _item(line: object) -> Mapping[str, Any] | None:
    """A line as an item, without the fields that the line lacks."""
    if not isinstance(line, Mapping):
        return None
    variant, price = line.get("variant"), line.get("price")
    fields = {
        "sku": variant.get("sku") if isinstance(variant, Mapping) else None,
        "qty": line.get("quantity"),
        "unitPrice": _money(price.get("value")) if isinstance(price, Mapping) else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _money(value: object) -> str | None:
    """Minor units as decimal text: 2460 is 24.60 with two fraction digits, and 2460 with none."""
    if not isinstance(value, Mapping):
        return None
    minor, digits = value.get("centAmount"), value.get("fractionDigits")
    if type(minor) is not int or type(digits) is not int or not 0 <= digits <= 4:
        return None
    return f"{Decimal(minor).scaleb(-digits):.{digits}f}"
