"""The entries that are measured: so many orders' events, one of each order in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

CUSTOMER = "customer-7"
ITEM = {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"}
LONGEST_LEDGER = 500
"""Entries: no more wait in the queue at once, for its twin looks at each of them whenever it gives one out."""


def order_id(number: int) -> str:
    """The id of the order of that number."""
    return f"7f3c9a52-6d1e-4b8a-9c47-{number:012d}"


def creates(orders: int) -> list[dict[str, Any]]:
    """The create of each order, with three lines."""
    said = {"submittedAt": "2026-01-01T00:00:00Z", "currency": "EUR", "items": [ITEM] * 3}
    return [{"orderId": order_id(number), "sequence": 1, "op": "create", **said} for number in range(orders)]


def adds(orders: int, entries: int, first: int = 2) -> list[dict[str, Any]]:
    """So many adds of one line each, the orders in turn; the first ones have the sequence `first`."""
    return [
        {"orderId": order_id(n % orders), "sequence": first + n // orders, "op": "add", "item": ITEM}
        for n in range(entries)
    ]


def ledgers(name: str, entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The entries as the texts of ledgers."""
    for begin in range(0, len(entries), LONGEST_LEDGER):
        share = entries[begin : begin + LONGEST_LEDGER]
        yield json.dumps({"ledgerId": f"{name}-{begin}", "customerId": CUSTOMER, "entries": share})
