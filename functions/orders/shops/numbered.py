"""Messages of a commerce platform, in the format of commercetools: numbered without gaps for each order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from orders.shops.fields import is_object
from orders.shops.numbered_order import CANCELLED, added, created
from stepward import Rejected

_STATES = {
    "OrderStateChanged": "orderState",
    "OrderPaymentStateChanged": "paymentState",
    "OrderShipmentStateChanged": "shipmentState",
}
_LEFT_OUT = "payloadNotIncluded: fetch this message from the platform, and replace the event by it"
_HARMLESS = re.compile(
    r"OrderPayment(Added|Removed)|(Order|LineItem|CustomLineItem)StateTransition|OrderBillingAddressSet"
    r"|OrderCustomer(Email|Group)?Set|Order(PurchaseOrderNumber|Store|BusinessUnit|ShippingRateInput)Set"
    r"|OrderDiscountCodeStateSet|OrderCustom(Field|Type)\w+|Delivery(Added|Custom\w+)|Parcel(AddedToDelivery|\w+Updated)"
)
"""The kinds that change neither what is owed, nor what is to ship, nor where to."""


def numbered_message(content: object) -> Mapping[str, Any] | None:
    """A message of the platform as an order event; its `sequenceNumber` is the event's sequence.

    A message that it does not understand becomes an invalid event, which says what to do: without it, the lane would
    have a gap. One that is known and harmless takes its place. Raises Rejected if the message is not about an order.
    """
    if not is_object(content) or not {"notificationType", "resource", "sequenceNumber"} <= content.keys():
        return None
    resource = content["resource"]
    if not is_object(resource) or resource.get("typeId") != "order":
        raise Rejected("resource.typeId", "is not order; subscribe this queue to the messages of orders only")
    change = {"invalid": _LEFT_OUT} if "payloadNotIncluded" in content else _change(content)
    return {"orderId": resource.get("id"), "sequence": content["sequenceNumber"], **change}


def _change(content: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = content.get("type")
    match kind:
        case "OrderCreated":
            return created(content.get("order"))
        case "OrderDeleted":
            return {"op": "delete", "reason": "deleted at the platform"}
        case "OrderLineItemAdded":
            return added(content)
        case str() if kind in _STATES:
            return _state(kind, content)
        case str() if _HARMLESS.fullmatch(kind):
            return {"op": "add", "status": kind, "statusOf": "message"}
        case _:
            return {"invalid": f"type: this shop does not understand {kind!r}; skip the event or replace it"}


def _state(kind: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    state = content.get(_STATES[kind])
    if kind == "OrderStateChanged" and state == CANCELLED:
        return {"op": "delete", "reason": "cancelled at the platform"}
    return {"op": "add", "status": state, "statusOf": _STATES[kind]}
