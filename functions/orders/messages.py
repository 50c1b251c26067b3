"""The schemas of this shop: a submitted order, the events that follow it, a return, and the signals of a return."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec

from orders.money import minor_units
from stepward import EventMessage, OrderMessage, Permanent, Rejected, ShortText

Currency = Annotated[str, msgspec.Meta(pattern=r"\A[A-Z]{3}\Z")]
Sku = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}\Z")]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Money = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
Amount = Annotated[str, msgspec.Meta(pattern=r"\A-?[0-9]{1,12}(\.[0-9]{1,4})?\Z")]
Reason = Annotated[str, msgspec.Meta(max_length=200)]
LARGEST_TOTAL = 2**63 - 1
"""In minor units: the largest whole number of 64 bits, which is what payment systems and their databases hold."""

LONGEST_COOLING_OFF = timedelta(days=366)
AS_NEW = "as_new"


class Item(msgspec.Struct, frozen=True, rename="camel"):
    """A line of an order; money is decimal text, never a JSON number."""

    sku: Sku
    qty: Quantity
    unit_price: Money


class Adjustment(msgspec.Struct, frozen=True):
    """What an order costs beside its items: shipping, tax on top, a discount (below zero)."""

    reason: ShortText
    amount: Amount


Items = Annotated[list[Item], msgspec.Meta(min_length=1, max_length=1000)]
Adjustments = Annotated[list[Adjustment], msgspec.Meta(max_length=100)]


class _Lines(OrderMessage, frozen=True, kw_only=True):
    """What an order and a return share: items at their prices."""

    currency: Currency
    items: Items
    adjustments: Adjustments | None = None

    def __post_init__(self) -> None:
        """Reject what could never be charged."""
        _check("items", _lines(self.items, self.adjustments), self.currency, least=0)


class OrderSubmitted(_Lines, frozen=True, kw_only=True):
    """An order to fulfil."""


class ReturnRequested(_Lines, frozen=True, kw_only=True):
    """Goods that the customer of `purchase` sends back; an adjustment below zero is kept from what is paid back."""

    type: Literal["return.requested"]
    purchase: ShortText
    cooling_off_ends: Annotated[datetime, msgspec.Meta(tz=True)]

    def __post_init__(self) -> None:
        """Reject a return that would wait too long, or that could never be paid back."""
        super().__post_init__()
        if self.cooling_off_ends - self.submitted_at > LONGEST_COOLING_OFF:
            raise Rejected("coolingOffEnds", f"is over {LONGEST_COOLING_OFF.days} days after submittedAt")


class Goods(msgspec.Struct, frozen=True):
    """The data of the signal "goods": the warehouse has the parcel."""

    condition: Literal["as_new", "used", "damaged"]


class Approval(msgspec.Struct, frozen=True):
    """The data of the signal "approval": who pays back how much of the price of goods that are not as new."""

    by: ShortText
    percent: Annotated[int, msgspec.Meta(ge=1, le=100)] = 100


class OrderEvent(EventMessage, frozen=True, kw_only=True):
    """An event of an order: a create has the fields of a submitted order, an add or a modify has a subject.

    The subject is one `item`, all `items`, an `amount` in the order's currency (below zero for a refund), or the
    `status` of the order in its shop. Submission checks whether a create is complete.
    """

    item: Item | None = None
    items: Items | None = None
    adjustments: Adjustments | None = None
    amount: Amount | None = None
    currency: Currency | None = None
    status: ShortText | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        """Reject an add or a modify without a subject."""
        if self.op in {"add", "modify"} and not any((self.item, self.items, self.amount, self.status)):
            raise Rejected("item", f"is missing: every {self.op} has an item, items, an amount or a status")
        if self.currency:
            _check("amount", [(self.amount or "0", 1)], self.currency)
            _check("items", _lines(self.items or (), self.adjustments), self.currency, least=0)
            _check("item", _lines([self.item] if self.item else ()), self.currency)


def _lines(items: Iterable[Item], adjustments: Iterable[Adjustment] | None = None) -> list[tuple[str, int]]:
    return [(item.unit_price, item.qty) for item in items] + [(each.amount, 1) for each in adjustments or ()]


def _check(field: str, lines: Iterable[tuple[str, int]], currency: str, least: int = -LARGEST_TOTAL) -> None:
    """Raise Rejected if nobody could ever charge or refund these lines."""
    try:
        total = minor_units(lines, currency)
    except Permanent as error:
        raise Rejected(field, str(error)) from error
    if total < least:
        raise Rejected("adjustments", f"make the total {total:,} of the smallest unit of {currency}; it is at least 0")
    if abs(total) > LARGEST_TOTAL:
        raise Rejected(
            field, f"the total is {total:,} of the smallest unit of {currency}; the limit is {LARGEST_TOTAL:,}"
        )
