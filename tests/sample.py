"""The messages of a small shop: what the engine's tests send, so that they need no application."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from stepward.domain.errors import Rejected
from stepward.wire.order import OrderMessage, ShortText
from stepward.wire.order_event import EventMessage

Sku = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9-]{1,64}\Z")]
Money = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
Amount = Annotated[str, msgspec.Meta(pattern=r"\A-?[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
LINE: dict[str, object] = {"sku": "SKU-1", "qty": 1, "unitPrice": "1.00"}
PLAIN_ORDER: dict[str, Any] = {
    "type": "order.submitted",
    "orderId": "ord-1001",
    "version": 1,
    "submittedAt": "2026-01-01T00:00:00Z",
    "customerId": "customer-7",
    "currency": "EUR",
    "items": [LINE],
}


class Line(msgspec.Struct, frozen=True, rename="camel"):
    """A line of an order."""

    sku: Sku
    qty: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    unit_price: Money


class ShopOrder(OrderMessage, frozen=True, kw_only=True):
    """An order with lines."""

    currency: ShortText
    items: Annotated[list[Line], msgspec.Meta(min_length=1, max_length=1000)]


class ShopEvent(EventMessage, frozen=True, kw_only=True):
    """An event with an amount; yen have no parts."""

    amount: Amount | None = None
    currency: ShortText | None = None

    def __post_init__(self) -> None:
        """Reject what only the application knows to be wrong."""
        if self.currency == "JPY" and "." in (self.amount or ""):
            raise Rejected("amount", "is no whole number of yen")


SCHEMAS = {"order.submitted": ShopOrder}


def numbered_notice(content: object) -> Mapping[str, Any] | None:
    """Turns the shop's numbered notices into events that nobody can apply."""
    if not isinstance(content, Mapping) or "notificationType" not in content:
        return None
    return {"orderId": content["resource"]["id"], "sequence": content["sequenceNumber"], "invalid": "type: is unknown"}
