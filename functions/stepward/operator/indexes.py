"""What operators find orders by: the indexes of the state store and of the orders, the latest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.indexes import ATTENTION_KEYS, PAGE, IndexedItem
from stepward.adapters.dynamodb.orders import customer_keys, customer_of
from stepward.adapters.dynamodb.tables import merged
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.domain.errors import Unreadable
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import Plan
from stepward.operator.searches import Listed


@dataclass(frozen=True, slots=True)
class DynamoSearches:
    """Reads the indexes of a state store backwards, page by page, and the orders that they list a hundred at once."""

    store: DynamoTaskStore

    def in_flight(self, first: int, last: int) -> Iterator[Listed]:
        """The tasks that wait for something due from `first` to `last`, the latest due first; raises Transient."""
        index, due = self.store.tasks.due_index, IndexedItem.due
        parts = (_backwards(index, shard, due.between(first, last), "due") for shard in range(self.store.shards))
        return _in_order(merged(parts, reverse=True))

    def attention(self, last: int) -> Iterator[Listed]:
        """The tasks that have waited for an operator since `last` or longer, the latest first; raises Transient."""
        index, since = self.store.tasks.attention_index, IndexedItem.since
        parts = (_backwards(index, key, since <= last, "since") for key in ATTENTION_KEYS)
        return _in_order(merged(parts, reverse=True))

    def of_customer(self, customer: str, last: int) -> Iterator[Listed]:
        """The orders of this customer that were submitted up to `last`, the latest first; raises Transient."""
        parts = (self._submitted(key, last) for key in customer_keys(customer))
        return _in_order(merged(parts, reverse=True))

    def _submitted(self, key: str, last: int) -> Iterator[Listed]:
        wanted: dict[str, Any] = {
            "TableName": self.store.order_table,
            "IndexName": "customer",
            "KeyConditionExpression": "Customer = :customer AND Submitted <= :last",
            "ExpressionAttributeValues": {":customer": {"S": key}, ":last": {"N": str(last)}},
            "ScanIndexForward": False,
            "Limit": PAGE,
        }
        while True:
            with translated(f"read the index customer, key {key}"):
                answer = self.store.connection.dispatch("Query", wanted)
            yield from ((int(row["Submitted"]["N"]), row["OrderID"]["S"]) for row in answer["Items"])
            if not (last_key := answer.get("LastEvaluatedKey")):
                return
            wanted["ExclusiveStartKey"] = last_key

    def tasks(self, keys: Sequence[str]) -> Iterator[tuple[Task, Plan] | Unreadable]:
        """The tasks of these keys with their plans, from a replica and in any order; raises Transient."""
        for start in range(0, len(keys), PAGE):
            yield from self.store.load_many(keys[start : start + PAGE])

    def every(self) -> Iterator[Task | Unreadable]:
        """Every task, in no order: a scan of the whole store; raises Transient."""
        return self.store.every(None)

    def customers(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The customer of each of these orders, if it names one; raises Transient."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), PAGE):
            for row in self.store.order_rows(keys[start : start + PAGE]):
                if customer := customer_of(row):
                    found[row["OrderID"]["S"]] = customer
        return found


def _backwards(index: Any, key: int | str, condition: Any, at: str) -> Iterator[Listed]:
    with translated(f"read the index {index.Meta.index_name}, key {key}"):
        for item in index.query(key, condition, scan_index_forward=False, page_size=PAGE):
            yield int(getattr(item, at)), item.order_id


def _in_order(listed: Iterator[Listed]) -> Iterator[Listed]:
    """The same, those of one millisecond by their keys: an index has them in any order."""
    for _, together in groupby(listed, lambda each: each[0]):
        yield from sorted(together, reverse=True)
