"""The orders database: one row per order, written once, together with its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import OrderItem, find
from stepward.adapters.dynamodb.writes import is_own
from stepward.domain.errors import Corrupt, Rejected, wrong_with
from stepward.domain.submission import Order, Submission
from stepward.wire.strict_json import parse

CUSTOMER_KEYS = 16
"""Keys of the customer index for each customer: each takes 1,000 writes a second."""


@dataclass(frozen=True, slots=True)
class DynamoOrders:
    """The orders table."""

    table: type[OrderItem]
    by_customer: bool = False
    """Whether an index lists new orders by their customer."""

    def find(self, order_id: str) -> Order | None:
        """The order under this id, read consistently; None if there is none."""
        row = self._row(order_id)
        return Order(row.order_id, row.body, row.content_hash) if row else None

    def row(self, order: Order, write_id: str, submitted: int) -> OrderItem:
        """The row to put; it carries the id of the write that puts it."""
        row = self.table(order.order_id, body=order.body, content_hash=order.content_hash, write_id=write_id)
        if self.by_customer and (customer := customer_of({"Body": {"S": order.body}})):
            row.customer = customer_keys(customer)[crc32(order.order_id.encode()) % CUSTOMER_KEYS]
            row.submitted = submitted
        return row

    def submitted_before(self, order: Order, write_id: str) -> Submission | None:
        """What the row is, if there is one: our own write whose answer was lost, a duplicate, or a conflict."""
        row = self._row(order.order_id)
        if row is None:
            return None
        if is_own(row, write_id):
            return Submission.ACCEPTED
        return Submission.DUPLICATE if row.content_hash == order.content_hash else Submission.CONFLICT

    def _row(self, order_id: str) -> OrderItem | None:
        with translated(f"read order {order_id}"):
            return find(self.table, order_id)


def customer_keys(customer: str) -> Sequence[str]:
    """The keys of the customer index that list the orders of this customer."""
    return [f"{customer}#{number}" for number in range(CUSTOMER_KEYS)]


def customer_of(row: Mapping[str, Any]) -> str:
    """The customer that the order in a raw row names; "" if it names none."""
    try:
        return str(body_of(row).get("customerId") or "")
    except Corrupt:
        return ""


def body_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order in a raw row; raises Corrupt."""
    if not row:
        raise Corrupt("its task is there, its order is not")
    try:
        order = parse(row["Body"]["S"])
    except (LookupError, Rejected) as error:
        raise Corrupt(f"its order: {wrong_with(error)}") from error
    if not isinstance(order, dict):
        raise Corrupt("its order is not an object")
    return order
