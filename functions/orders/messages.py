"""The schemas of this shop: a submitted order, and the events that follow it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from stepward import EventMessage, OrderMessage, Rejected, ShortText

Currency = Annotated[str, msgspec.Meta(pattern=r"\A[A-Z]{3}\Z")]
Sku = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}\Z")]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Money = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
Amount = Annotated[str, msgspec.Meta(pattern=r"\A-?[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
Reason = Annotated[str, msgspec.Meta(max_length=200)]


class Item(msgspec.Struct, frozen=True, rename="camel"):
    """A line of an order; money is decimal text, never a JSON number."""

    sku: Sku
    qty: Quantity
    unit_price: Money


Items = Annotated[list[Item], msgspec.Meta(min_length=1, max_length=1000)]


class OrderSubmitted(OrderMessage, frozen=True, kw_only=True):
    """An order to fulfil."""

    currency: Currency
    items: Items


class OrderEvent(EventMessage, frozen=True, kw_only=True):
    """An event of an order: a create has the fields of a submitted order, an add or a modify has a subject.

    The subject is one `item`, all `items`, an `amount` in the order's currency (below zero for a refund), or the
    `status` of the order in its shop. Submission checks whether a create is complete.
    """

    item: Item | None = None
    items: Items | None = None
    amount: Amount | None = None
    currency: Currency | None = None
    status: ShortText | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        """Reject an add or a modify without a subject."""
        if self.op in {"add", "modify"} and not any((self.item, self.items, self.amount, self.status)):
            raise Rejected("item", f"is missing: every {self.op} has an item, items, an amount or a status")
