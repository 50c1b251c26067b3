"""What AWS bills for a call, by its published rules, from the call's parameters and its answer."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepward.cli.cost.item_size import size_of, units_of_write

READ_BYTES = 4 * 1024
CHUNK_BYTES = 64 * 1024
INDEXES = (("OrderID", "Shard", "Due"), ("OrderID", "Attention", "Since"), ("OrderID", "Customer", "Submitted"))
"""The attributes of each sparse index of the state store: its keys, and nothing else."""
_ONE_REQUEST = {"GetQueueAttributes", "ChangeMessageVisibility"}
SENDS_TO = "sends to "
"""How the count of the sends to each queue begins."""
KEYS = ("OrderID", "Position", "Name", "Day", "Key")
"""The attributes that the keys of all tables are made of."""

Item = Mapping[str, Any]


def units_of_reads(items: Iterable[Item], *, asked: int, consistent: bool) -> float:
    """Read units of single reads: each item in whole 4 KB; a missing one counts as a small one."""
    found = [max(1, math.ceil(size_of(item) / READ_BYTES)) for item in items]
    return (sum(found) + max(0, asked - len(found))) * (1.0 if consistent else 0.5)


def units_of_query(items: Iterable[Item], *, consistent: bool = False) -> float:
    """Read units of one page of a query: all items together in whole 4 KB."""
    pages = max(1, math.ceil(sum(size_of(item) for item in items) / READ_BYTES))
    return pages * (1.0 if consistent else 0.5)


def units_of_indexes(before: Item, after: Item) -> int:
    """Write units of the indexes: one to remove an old entry, one to add a new one."""
    entries = [(_entry(before, keys), _entry(after, keys)) for keys in INDEXES]
    return sum(bool(old) + bool(new) for old, new in entries if old != new)


def requests_of(payload: int) -> int:
    """Requests to SQS that one call of this many bytes is billed as."""
    return max(1, math.ceil(payload / CHUNK_BYTES))


def _entry(item: Item, keys: tuple[str, ...]) -> Item:
    return {name: item[name] for name in keys} if item.keys() >= set(keys) else {}


@dataclass(slots=True)
class Bill:
    """Adds up calls; it remembers the items written, because a put is billed by the larger of old and new."""

    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    items: dict[tuple[str, str], Item] = field(default_factory=dict)

    def add(self, operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Bill one call; raises ValueError for an unknown one, whose price would be left out."""
        if operation in _ONE_REQUEST:
            self.totals["sqs requests"] += 1
            return
        if operation == "GetSecretValue":  # once in a while for each process, whatever the orders
            self.totals["secret reads"] += 1
            return
        known: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], None]] = {
            "PutItem": self._put,
            "BatchWriteItem": self._put_many,
            "TransactWriteItems": self._put_together,
            "GetItem": self._get_one,
            "BatchGetItem": self._get_many,
            "Query": self._query,
            "SendMessageBatch": self._send,
        }
        if operation not in known:
            raise ValueError(f"{operation} is not billed yet; say how in billing.py")
        known[operation](request, answer)

    def _put_many(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        for table, wanted in request["RequestItems"].items():
            for each in wanted:
                self._put({"TableName": table, "Item": each["PutRequest"]["Item"]}, answer)

    def _put_together(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        for each in request["TransactItems"]:
            self._put(each["Put"], answer, times=2)

    def _put(self, put: Mapping[str, Any], answer: Mapping[str, Any], times: int = 1) -> None:
        item = put["Item"]
        key = (put["TableName"], "/".join(item[name]["S"] for name in KEYS if name in item))
        before = self.items.get(key, {})
        self.totals["write units"] += units_of_write(before, item) * times
        if "Error" in answer:
            return
        self.totals["write units"] += units_of_indexes(before, item)
        self.items[key] = item

    def _get_one(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        found = [answer["Item"]] if "Item" in answer else []
        self._get_many({"RequestItems": {"": {"Keys": [""], **request}}}, {"Responses": {"": found}})

    def _get_many(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        for table, wanted in request["RequestItems"].items():
            found, consistent = answer["Responses"].get(table, []), wanted.get("ConsistentRead", False)
            self.totals["read units"] += units_of_reads(found, asked=len(wanted["Keys"]), consistent=consistent)

    def _query(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        consistent = request.get("ConsistentRead", False)
        self.totals["read units"] += units_of_query(answer.get("Items", []), consistent=consistent)

    def _send(self, request: Mapping[str, Any], _answer: Mapping[str, Any]) -> None:
        sent = request["Entries"]
        requests = requests_of(sum(len(entry["MessageBody"].encode()) for entry in sent))
        if request.get("QueueUrl", "").endswith(".fifo"):
            self.totals["fifo requests"] += requests
            return
        self.totals["sqs requests"] += requests
        self.totals["sqs sends"] += requests
        self.totals[f"{SENDS_TO}{request.get('QueueUrl', '')}"] += requests
        if any("MessageGroupId" in entry for entry in sent):
            self.totals["fair requests"] += requests
