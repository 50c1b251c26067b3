"""What a submitted order of this shop, and each event that follows it, must say."""

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
    """One line of an order; money is decimal text, never a JSON number."""

    sku: Sku
    qty: Quantity
    unit_price: Money


Items = Annotated[list[Item], msgspec.Meta(min_length=1, max_length=1000)]


class OrderSubmitted(OrderMessage, frozen=True, kw_only=True):
    """An order to fulfil."""

    currency: Currency
    items: Items


class OrderEvent(EventMessage, frozen=True, kw_only=True):
    """An event of an order: a create says what a submitted order says, an add or a modify what it is about.

    That is one `item` or all `items`, an `amount` in the order's currency (less than zero for what is given back), or
    the `status` that the order has where it comes from. Whether a create says enough is for its submission to judge.
    """

    item: Item | None = None
    items: Items | None = None
    amount: Amount | None = None
    currency: Currency | None = None
    status: ShortText | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        """Refuse an add or a modify that says nothing."""
        if self.op in {"add", "modify"} and not any((self.item, self.items, self.amount, self.status)):
            raise Rejected("item", f"is missing: every {self.op} says an item, items, an amount or a status")
