"""What a running deployment holds at one moment: memory, messages, rows."""

from collections.abc import Mapping
from dataclasses import dataclass

import boto3
import psutil

from orders.demo.stage import Stage
from stepward.local.access import access
from tests.lab.chaos.queues import dead_letters, messages
from tests.lab.reaper import functions_of

MB = 1024 * 1024
TABLES = ("orders", "tasks", "lanes", "shared_records", "rejects")


@dataclass(frozen=True, slots=True)
class Sample:
    """A deployment `at` seconds after the beginning, when `orders` had been sent; sizes in MB."""

    at: float
    orders: int
    backlog: Mapping[str, int]
    due: Mapping[str, int]
    rows: Mapping[str, int]
    workers: int
    worker_mb: float
    cloud_mb: float

    @property
    def waiting(self) -> int:
        """Messages in all queues, those in flight included."""
        return sum(self.backlog.values())

    def rows_per_order(self, table: str) -> float:
        """Rows of a table for each order that was sent."""
        return self.rows[table] / max(1, self.orders)

    def __str__(self) -> str:
        return f"{self.at:.0f} s: {self.orders} orders, {self.waiting} messages wait, {sum(self.due.values())} due"


class Sampler:
    """Takes samples of `stage`; `cloud` is the process that runs the emulator and starts the functions."""

    def __init__(self, stage: Stage, cloud: int) -> None:
        self.stage, self.cloud = stage, cloud
        self.dynamodb = boto3.client("dynamodb", **access(stage.endpoint))

    def sample(self, at: float, orders: int) -> Sample:
        tables = {name: getattr(self.stage.deployment, f"{name}_table") for name in TABLES}
        # A leak shows in the largest process, which lives longest; restarts would hide it in a sum.
        workers = [_resident(process) for process in functions_of(self.cloud, bool)]
        return Sample(
            at=at,
            orders=orders,
            backlog={**messages(self.stage), **dead_letters(self.stage)},
            due={name: self._count(tables[name], "due") for name in ("tasks", "lanes")},
            rows={name: self._count(table) for name, table in tables.items()},
            workers=len(workers),
            worker_mb=max(workers, default=0.0),
            cloud_mb=_resident(psutil.Process(self.cloud)),
        )

    def _count(self, table: str, index: str = "") -> int:
        where = {"IndexName": index} if index else {}
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table, Select="COUNT", **where)  # type: ignore[arg-type]
        return sum(page["Count"] for page in pages)


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss / MB)
    except psutil.NoSuchProcess:
        return 0.0
