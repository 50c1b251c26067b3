"""The state store, the orders and the rejects of one test in one of the three worlds."""

import hashlib
import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
from mypy_boto3_dynamodb import DynamoDBClient

from stepward.adapters.dynamodb.indexes import shard_of
from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.tables import Access, RejectItem, bound
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.s3_bodies import S3Bodies
from stepward.domain.submission import Order
from stepward.domain.task.record import Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.local.access import REGION
from stepward.ports import TaskStore
from stepward.testing.aws.tables import create_table
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.wiring.tasks import task_store
from tests.contract.worlds import access as worlds

SHARDS = 2
NOW = 1_767_225_600_000
TIMING = Timing()
RESERVE = PlannedStep("reserve", "inventory", "reserve", (), 60_000, 3)
CHARGE = PlannedStep("charge", "payments", "charge", ("reserve",), 120_000, 5)
PLAN = Plan("fulfilment", 1, (RESERVE, CHARGE, PlannedStep("ship", "shipping", "ship", ("charge",), 600_000, 3)))


def order_of(order_id: str, body: str = '{"total":"12.30"}') -> Order:
    return Order(order_id, body, hashlib.sha256(body.encode()).hexdigest())


def task_of(order_id: str, now: int = NOW) -> Task:
    return new_task(order_id, PLAN, now, TIMING)


def submitted(store: TaskStore, order_id: str, now: int = NOW) -> Task:
    """The task of an order that was just accepted."""
    task = task_of(order_id, now)
    store.submit(order_of(order_id), task, PLAN)
    return task


def ids_in(shard: int, count: int) -> list[str]:
    """The first `count` order ids that fall into this shard."""
    every = (f"ord-{number}" for number in itertools.count())
    return list(itertools.islice((name for name in every if shard_of(name, SHARDS) == shard), count))


def changed(task: Task, **changes: Any) -> Task:
    """The task as the next write leaves it."""
    return replace(task, revision=task.revision + 1, **changes)


@dataclass(frozen=True)
class MemoryStoreWorld:
    store: MemoryTaskStore = field(default_factory=lambda: MemoryTaskStore(lambda name: shard_of(name, SHARDS)))
    rejected: MemoryRejects = field(default_factory=MemoryRejects)

    @property
    def orders(self) -> MemoryTaskStore:
        return self.store

    def forget_plan(self) -> None:
        """Have the plan be one of newer code."""
        self.store.newer.add(PLAN.plan_id)

    def rejects(self, _now: Callable[[], int]) -> MemoryRejects:
        return self.rejected


@dataclass(frozen=True)
class Tables:
    """The names of a deployment's tables."""

    orders: str
    tasks: str
    rejects: str

    @staticmethod
    def created(client: DynamoDBClient) -> "Tables":
        """Tables of the shapes that the stack deploys, under names of their own."""
        prefix = f"t{uuid.uuid4().hex[:8]}-"
        return Tables(*(create_table(client, kind, prefix + kind) for kind in ("orders", "tasks", "rejects")))


@dataclass(frozen=True)
class DynamoWorld:
    """The AWS adapters on tables of their own; `client` shows what they really wrote."""

    client: DynamoDBClient
    tables: Tables
    store: DynamoTaskStore
    access: Access

    @staticmethod
    def new(client: DynamoDBClient, endpoint: str | None = None) -> "DynamoWorld":
        access = Access(REGION, endpoint)
        tables = Tables.created(client)
        return DynamoWorld(client, tables, _store(tables, access), access)

    @property
    def orders(self) -> DynamoOrders:
        assert self.store.orders is not None
        return self.store.orders

    def forget_plan(self) -> None:
        """Have the plan be one of newer code."""
        body = json.dumps(json.loads(PLAN.to_json()) | {"graph": "dynamic"})
        row = {"OrderID": {"S": f"~plan#{PLAN.plan_id}"}, "Body": {"S": body}}
        self.client.put_item(TableName=self.tables.tasks, Item=row)
        self.store.known_plans.clear()

    def another_store(self) -> DynamoTaskStore:
        """The same tables as another process sees them."""
        return _store(self.tables, self.access)

    def rejects(self, now: Callable[[], int]) -> DynamoRejects:
        return DynamoRejects(bound(RejectItem, self.tables.rejects, self.access), now, self.bodies)

    def bodies(self) -> S3Bodies:
        """Large bodies in a bucket of their own, named like the table."""
        s3 = boto3.client("s3", endpoint_url=self.access.endpoint, region_name=REGION)
        s3.create_bucket(Bucket=self.tables.rejects)
        return S3Bodies(lambda: s3, self.tables.rejects)

    def raw(self, order_id: str) -> Any:
        """The task's item as it is stored; None if there is none."""
        answer = self.client.get_item(TableName=self.tables.tasks, Key={"OrderID": {"S": order_id}})
        return answer.get("Item")


def _store(tables: Tables, access: Access) -> DynamoTaskStore:
    return task_store(access, orders=tables.orders, tasks=tables.tasks, shards=SHARDS)


StoreWorld = MemoryStoreWorld | DynamoWorld


def task_in(store: TaskStore, order_id: str = "ord-1") -> Task:
    """The task as it is stored."""
    loaded = store.load(order_id)
    assert loaded is not None
    return loaded.task


def on_dynamodb(access: worlds.Access) -> DynamoWorld:
    return DynamoWorld.new(boto3.client("dynamodb", **access), access.get("endpoint_url"))


def store_world(access: worlds.Access | None) -> StoreWorld:
    """The twin in memory, or the adapters on DynamoDB."""
    return MemoryStoreWorld() if access is None else on_dynamodb(access)
