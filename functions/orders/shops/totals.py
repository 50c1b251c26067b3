"""Compares what the parts of an order come to with what its shop wants for it, to the last digit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from orders.shops.fields import at

_MONEY = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,4}(?:[0-9]?[1-9])?)?)0{0,16}")
"""So few digits that a thousand lines of a million pieces are added up exactly."""


def money(value: object) -> Decimal | None:
    """The amount in a text or a number; None if it is none."""
    found = _MONEY.fullmatch(str(value) if type(value) in {str, int, Decimal} else "")
    return Decimal(found[1]) if found else None


def accounted(
    items: Sequence[object], adjustments: Mapping[str, Decimal], total: object, currency: object
) -> Mapping[str, Any]:
    """The items and the adjustments of an order, as fields of an event; an invalid event if they miss the total.

    `total` is what the shop wants, None if it does not say. An item without a price is for the event's own check.
    """
    changes = {reason: amount for reason, amount in adjustments.items() if amount}
    listed = [{"reason": reason, "amount": _text(amount)} for reason, amount in changes.items()]
    fields = {"items": list(items), "adjustments": listed}
    goods = _goods(items)
    if total is None or goods is None:
        return fields
    if (wanted := money(total)) is None:
        return {"invalid": "total: is no amount of money; ask the shop for it, and replace the event"}
    found = sum(changes.values(), goods)
    if found == wanted:
        return fields
    parts = ", ".join(f"{name} {_text(amount)}" for name, amount in {"items": goods, **changes}.items())
    return {
        "invalid": f"total: the shop wants {_text(wanted)} {currency}, but what is known of the order comes to "
        f"{_text(found)} {currency} ({parts}); replace the event by one whose items and adjustments come to the total"
    }


def _text(amount: Decimal) -> str:
    """An amount with the digits that it needs, and with two if it needs any."""
    whole, _, digits = f"{amount:f}".partition(".")
    return f"{whole}.{digits.rstrip('0').ljust(2, '0')}" if digits else whole


def _goods(items: Sequence[object]) -> Decimal | None:
    """What the items cost; None if one of them has no price or no quantity."""
    total = Decimal(0)
    for item in items:
        price, quantity = money(at(item, "unitPrice")), at(item, "qty")
        if price is None or type(quantity) is not int:
            return None
        total += price * quantity
    return total
