"""The ledger entries that the benchmarks apply: one event of each order in turn."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.lab.benchmarks.workload import order_id

CUSTOMER = "customer-7"
ITEM = {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"}
LONGEST_LEDGER = 500
"""Entries: more must not wait in the queue at once, because its twin scans all of them at each receive."""


def creates(orders: int) -> list[dict[str, Any]]:
    """The create of each order, with three lines."""
    content = {"submittedAt": "2026-01-01T00:00:00Z", "currency": "EUR", "items": [ITEM] * 3}
    return [{"orderId": order_id(number), "sequence": 1, "op": "create", **content} for number in range(orders)]


def adds(orders: int, entries: int, first: int = 2) -> list[dict[str, Any]]:
    """`entries` adds of one line each, the orders in turn; the first of each has the sequence `first`."""
    return [
        {"orderId": order_id(n % orders), "sequence": first + n // orders, "op": "add", "item": ITEM}
        for n in range(entries)
    ]


def ledgers(name: str, entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The entries as the texts of ledgers."""
    for begin in range(0, len(entries), LONGEST_LEDGER):
        share = entries[begin : begin + LONGEST_LEDGER]
        yield json.dumps({"ledgerId": f"{name}-{begin}", "customerId": CUSTOMER, "entries": share})
