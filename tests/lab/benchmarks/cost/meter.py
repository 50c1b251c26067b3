"""Hooks on the SDK: they see every call that a function makes, whichever library makes it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import boto3
from botocore import handlers

from tests.lab.benchmarks.cost.billing import Bill

_REQUEST = "benchmark.request"
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
}
_SIDE_BY_SIDE = {"agent", "convoy"}


@dataclass(slots=True)
class Meter:
    """Bills what functions call; it does not count the calls of the benchmark itself in between."""

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

    def _count_waits(self, operations: list[str], *, together: bool) -> None:
        """Count how often the function waited; messages that are processed side by side wait together."""
        for operation in dict.fromkeys(operations) if together else operations:
            self.bill.totals[f"{_WAITS[operation]} waited for"] += 1

    def reset(self) -> None:
        """Set every count to zero, but remember which items there are."""
        self.bill.totals.clear()
        self.calls.clear()

    def before_call(self, params: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
        context[_REQUEST] = params

    def after_call(self, parsed: Mapping[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
        if self.function and _REQUEST in context:
            with self.lock:
                self.calls.append((self.function, model.name))
                self.bill.add(model.name, context.pop(_REQUEST), parsed)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter on every client that is made inside."""
    meter = Meter()
    hooks = [("before-parameter-build", meter.before_call), ("after-call", meter.after_call)]
    handlers.BUILTIN_HANDLERS.extend(hooks)
    before, boto3.DEFAULT_SESSION = boto3.DEFAULT_SESSION, None
    try:
        yield meter
    finally:
        boto3.DEFAULT_SESSION = before
        for hook in hooks:
            handlers.BUILTIN_HANDLERS.remove(hook)
