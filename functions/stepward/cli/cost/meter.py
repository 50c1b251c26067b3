"""Counts what the functions call, and bills it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from stepward.cli.cost.billing import Bill

_WAITS = {
    "GetItem": "reads",
    "BatchGetItem": "reads",
    "Query": "reads",
    "PutItem": "writes",
    "BatchWriteItem": "writes",
    "TransactWriteItems": "transactions",
    "SendMessageBatch": "sends",
    "ChangeMessageVisibility": "sends",
    "GetQueueAttributes": "sends",
    "GetSecretValue": "secrets",
}
_SIDE_BY_SIDE = {"agent", "convoy"}


@dataclass(slots=True)
class Meter:
    """Bills what functions call; it does not count the calls that are made in between."""

    bill: Bill = field(default_factory=Bill)
    calls: list[tuple[str, str]] = field(default_factory=list)
    """The function and the operation of each call."""
    function: str = ""
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def invocation(self, function: str) -> Iterator[None]:
        """Count the calls inside the block as this function's."""
        self.bill.totals["invocations"] += 1
        self.bill.totals[f"invocations of {function}"] += 1
        self.function, before = function, len(self.calls)
        try:
            yield
        finally:
            self.function = ""
            self._count_waits([operation for _, operation in self.calls[before:]], together=function in _SIDE_BY_SIDE)

    def called(self, operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Bill one call, if a function made it."""
        if self.function:
            with self.lock:
                self.calls.append((self.function, operation))
                self.bill.add(operation, request, answer)

    def _count_waits(self, operations: list[str], *, together: bool) -> None:
        """Count how often the function waited; messages that are processed side by side wait together."""
        for operation in dict.fromkeys(operations) if together else operations:
            self.bill.totals[f"{_WAITS[operation]} waited for"] += 1

    def reset(self) -> None:
        """Set every count to zero, but remember which items there are."""
        self.bill.totals.clear()
        self.calls.clear()
