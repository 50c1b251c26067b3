"""A state store of any size in memory: rows are made when they are read, by the rule that their number gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from stepward.cli.cost.billing import Bill, Item
from stepward.cli.cost.meter import Meter
from stepward.cli.cost.pretend import Tables
from stepward.domain.submission import Order
from stepward.operator.connection import Connection
from stepward.operator.indexes import DynamoSearches
from stepward.wiring.tasks import task_store
from tests.unit.cli.lives import SUBMITTED, Life
from tests.unit.operator.deployed import Deployed

SHARDS, KEYS = 4, 16


@dataclass
class Requests:
    """What was asked of DynamoDB, and what AWS bills for it."""

    bill: Bill = field(default_factory=Bill)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def read(self) -> tuple[int, int, float]:
        """Requests, tasks and orders read, and read units."""
        return self.counts.total() - self.counts["rows"], self.counts["rows"], self.bill.totals["read units"]


class Endless(Tables):
    """`size` tasks, the newest last: of two one is in flight and one in Error, and each is listed by its index."""

    def __init__(self, size: int) -> None:
        super().__init__(Meter())
        self.size, self.asked, self.lock = size, Requests(), Lock()
        self.store = task_store(self.access(), orders="orders", tasks="tasks", shards=SHARDS)
        for name, life in (("in flight", Life("in flight").start(0)), ("failed", failed())):
            self.store.submit(Order(name, '{"customerId":"acme"}', "hash"), Life(name).task, life.plan)
            assert self.store.save(life.task, replaces=Life(name).task)
        self.asked = Requests()

    @property
    def connection(self) -> Connection:
        """What an operator reaches, with no other trouble than these orders."""
        deployed = Deployed(time=[self.size])
        found = deployed.connection
        found.deployment.__dict__["shards"] = SHARDS
        object.__setattr__(found, "searches", DynamoSearches(self.store))
        return found

    def dispatch(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        """Answer from the rule, and count it; a scan is billed as a query of the same rows."""
        if operation_name not in {"Query", "BatchGetItem", "Scan"}:
            return super().dispatch(operation_name, operation_kwargs)
        answer = {"Query": self._query, "BatchGetItem": self._read, "Scan": self._scan}[operation_name](
            operation_kwargs
        )
        with self.lock:  # lists are read side by side
            self.asked.counts[operation_name] += 1
            rows = answer.get("Responses", {"": answer.get("Items", [])}).values() if operation_name != "Query" else []
            self.asked.counts["rows"] += sum(map(len, rows))
            self.asked.bill.add(operation_name.replace("Scan", "Query"), operation_kwargs, answer)
        return answer

    def _query(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers that an index lists under a key: each `step`-th."""
        of_due, values = (
            request["IndexName"] == "due",
            [int(each["N"]) for each in request["ExpressionAttributeValues"].values()],
        )
        key, *limits = values
        first, step = (2 * key, 2 * SHARDS) if of_due else (2 * (key - 1) + 1, 2 * KEYS)
        low, high = limits if len(limits) == 2 else (0, limits[0] if limits else SUBMITTED + self.size)
        numbers = range(first, self.size, step)
        listed = numbers[max(0, -(-(low - SUBMITTED - first) // step)) : max(0, (high - SUBMITTED - first) // step + 1)]
        ordered = listed if request.get("ScanIndexForward", True) else listed[::-1]
        begin = ordered.index(_number(request["ExclusiveStartKey"])) + 1 if "ExclusiveStartKey" in request else 0
        names = ("Shard", "Due") if of_due else ("Attention", "Since")
        page = ordered[begin : begin + request["Limit"]]
        items = [_listed(number, dict(zip(names, (key, SUBMITTED + number), strict=True))) for number in page]
        more = {"LastEvaluatedKey": items[-1]} if begin + len(page) < len(ordered) else {}
        return {"Items": items, "Count": len(items), "ScannedCount": len(items), **more}

    def _read(self, request: Mapping[str, Any]) -> dict[str, Any]:
        wanted = request["RequestItems"].items()
        return {"Responses": {table: [self._row(table, key) for key in each["Keys"]] for table, each in wanted}}

    def _scan(self, request: Mapping[str, Any]) -> dict[str, Any]:
        begin = _number(request["ExclusiveStartKey"]) + 1 if "ExclusiveStartKey" in request else 0
        page = range(self.size)[begin : begin + request["Limit"]]
        items = [self._row("tasks", _listed(number, {})) for number in page]
        more = {"LastEvaluatedKey": _listed(page[-1], {})} if page and page[-1] + 1 < self.size else {}
        return {"Items": items, "Count": len(items), "ScannedCount": len(items), **more}

    def _row(self, table: str, key: Item) -> Item:
        if (name := key["OrderID"]["S"]) in self.rows[table]:  # a plan
            return self.rows[table][name]
        return {**self.rows[table]["failed" if _number(key) % 2 else "in flight"], "OrderID": key["OrderID"]}


def failed() -> Life:
    """An order whose second step was refused."""
    return Life("failed").start(0).answer("reserve", 10).answer("charge", 20, "declined")


def _listed(number: int, keys: Mapping[str, int]) -> Item:
    return {"OrderID": {"S": f"ord-{number:07d}"}, **{name: {"N": str(value)} for name, value in keys.items()}}


def _number(key: Item) -> int:
    return int(key["OrderID"]["S"].removeprefix("ord-"))
