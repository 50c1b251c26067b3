"""What a submitted order of this shop must say."""

from __future__ import annotations

from typing import Annotated

import msgspec

from stepward.wire.order import OrderMessage

Currency = Annotated[str, msgspec.Meta(pattern=r"\A[A-Z]{3}\Z")]
Sku = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}\Z")]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Money = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z")]


class Item(msgspec.Struct, frozen=True, rename="camel"):
    """One line of an order; money is decimal text, never a JSON number."""

    sku: Sku
    qty: Quantity
    unit_price: Money


class OrderSubmitted(OrderMessage, frozen=True, kw_only=True):
    """An order to fulfil."""

    currency: Currency
    items: Annotated[list[Item], msgspec.Meta(min_length=1, max_length=1000)]
