"""A deployed stack without functions: what the command line sends stays in the queues, unless a Scheduler works."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
import pytest
from typer.testing import CliRunner, Result

from stepward.adapters.dynamodb.task_store import PLAN_PREFIX
from stepward.adapters.sqs.queues import SqsQueues
from stepward.app.scheduler.schedule import Schedule
from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import Target
from stepward.cli.main import app
from stepward.domain.convoy.commands import ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.submission import Order
from stepward.local.access import REGION, Access
from stepward.local.server import Server
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.settings import Settings
from stepward.wire.convoy import decode_for_lane
from stepward.wire.order_event import EventMessage
from tests.unit.cli.lives import TIMING, Life
from tests.unit.cli_convoy.lane_lives import LaneLife

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBServiceResource
    from mypy_boto3_sqs import SQSClient

Run = Callable[..., Result]
FIFO = frozenset({"Ledgers", "OrderEvents", "BigShop"})


def _table(hash_key: str, range_key: str = "") -> dict[str, Any]:
    keys = {hash_key: "HASH", **({range_key: "RANGE"} if range_key else {})}
    return {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in keys],
            "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in keys.items()],
        },
    }


def _listed_table(*keys_of_table: str) -> dict[str, Any]:
    table = _table(*keys_of_table)
    numbers = [{"AttributeName": key, "AttributeType": "N"} for key in ("Attention", "Since")]
    keys = [{"AttributeName": "Attention", "KeyType": "HASH"}, {"AttributeName": "Since", "KeyType": "RANGE"}]
    index = {"IndexName": "attention", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    table["Properties"]["AttributeDefinitions"] += numbers
    table["Properties"]["GlobalSecondaryIndexes"] = [index]
    return table


def _queue(name: str) -> dict[str, Any]:
    fifo = {"FifoQueue": True, "FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup"}
    return {"Type": "AWS::SQS::Queue"} | ({"Properties": fifo} if name.removeprefix("Dead") in FIFO else {})


def template() -> dict[str, Any]:
    queues = {name: f"{name}QueueUrl" for name in ("Orders", "Scheduler", "Responses", "Ledgers", "OrderEvents")}
    tables = {
        "OrdersTable": _table("OrderID"),
        "TasksTable": _listed_table("OrderID"),
        "LanesTable": _listed_table("OrderID", "Position"),
        "RejectsTable": _table("Day", "Key"),
        "SharedRecordsTable": _table("Name"),
    }
    agents = {"inventory": "Inventory", "payments": "Payments", "shipping": "Shipping"}
    sources = {"orders": "Orders", "scheduler": "Scheduler", "responses": "Responses", "agent-inventory": "Inventory"}
    sources |= {"ledgers": "Ledgers", "order-events": "OrderEvents"}
    dead = {name: f"Dead{queue}" for name, queue in sources.items()}
    pairs = [f'"{name}": {{"source": "${{{queue}}}", "dead": "${{{dead[name]}}}"}}' for name, queue in sources.items()]
    outputs: dict[str, Any] = {output: {"Ref": queue} for queue, output in queues.items()}
    outputs |= {f"{table}Name": {"Ref": table} for table in tables}
    addresses = [f'"{agent}": "${{{queue}}}"' for agent, queue in agents.items()]
    outputs |= {"AgentQueueUrls": _joined(addresses), "DeadLetterQueueUrls": _joined(pairs)}
    outputs |= {"AgentFunctionNames": "{}", "CustomerLedgerQueueUrls": _joined(['"big-shop": "${BigShop}"'])}
    outputs |= {"LedgersBucketName": {"Ref": "LedgersBucket"}, "Shards": "4"}
    outputs |= {"AlertsTopicArn": "arn:aws:sns:us-east-1:000000000000:alerts", "SupervisorFunctionName": "supervisor"}
    return {
        "Resources": {queue: _queue(queue) for queue in (*queues, *agents.values(), "BigShop", *dead.values())}
        | {"LedgersBucket": {"Type": "AWS::S3::Bucket"}}
        | tables,
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }


def _joined(members: list[str]) -> dict[str, str]:
    return {"Fn::Sub": f"{{{', '.join(members)}}}"}


@dataclass(frozen=True)
class Shop:
    """One deployment, and what a test puts into it or takes out of it."""

    target: Target
    connection: Connection
    sqs: SQSClient
    dynamodb: DynamoDBServiceResource

    def keep(self, life: Life) -> None:
        first = Life(life.order_id, life.plan).task
        body = json.dumps(dict(life.loaded.order))
        self.connection.store.submit(Order(life.order_id, body, "hash"), first, life.plan)
        assert self.connection.store.save(life.task, replaces=first)

    def received(self, queue_url: str) -> list[str]:
        bodies: list[str] = []
        while found := self.sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages"):
            for message in found:
                bodies.append(message["Body"])
                self.sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        return bodies

    def clear(self) -> None:
        parts = self.connection.deployment
        for name, keys in (
            (parts.orders_table, ["OrderID"]),
            (parts.tasks_table, ["OrderID"]),
            (parts.rejects_table, ["Day", "Key"]),
            (parts.shared_records_table, ["Name"]),
            (parts.lanes_table, ["OrderID", "Position"]),
        ):
            table = self.dynamodb.Table(name)
            # The store remembers which plans it has kept.
            items = [item for item in table.scan()["Items"] if not str(item.get("OrderID", "")).startswith(PLAN_PREFIX)]
            for item in items:
                table.delete_item(Key={key: item[key] for key in keys})
        dead_letters = [url for each in parts.dead_letters.values() for url in (each.source, each.dead)]
        own = [*parts.agent_queue_urls.values(), *parts.customer_ledger_queue_urls.values()]
        for queue_url in {*dead_letters, *own}:
            self.received(queue_url)

    def schedule(self) -> Schedule:
        """A Scheduler of this deployment."""
        parts, connection = self.connection.deployment, self.connection
        queues = SqsQueues(self.sqs, parts.scheduler_queue_url, parts.responses_queue_url, parts.agent_queue_urls)
        ports: dict[str, Any] = {
            "store": connection.store,
            "shared_records": connection.shared_records,
            "queues": queues,
        }
        return memory_assembly(connection.now, settings=Settings(timing=TIMING), **ports).scheduler("scheduler-1")

    def lane(self) -> LaneLife:
        """A convoy of this deployment."""
        return LaneLife(lanes=self.connection.lanes, shared_records=self.connection.shared_records)

    @contextmanager
    def at_work(self, before: Callable[[], object] = tuple, afterwards: Callable[[], object] = tuple) -> Iterator[None]:
        """Meanwhile a Scheduler takes what it is told; `before` and `afterwards` are what else happens then."""
        schedule = self.schedule()

        def take(body: str) -> None:
            before()
            schedule.handle(body)
            afterwards()

        with self._taking(self.connection.deployment.scheduler_queue_url, take):
            yield

    @contextmanager
    def convoy_at_work(self, life: LaneLife, before: Callable[[], object] = tuple) -> Iterator[None]:
        """Meanwhile the convoy takes what is asked of its lanes; `before` is what else happens then."""

        def take(body: str) -> None:
            before()
            command = decode_for_lane(body, EventMessage)
            assert isinstance(command, RetryLane | SkipEvent | ReplaceEvent)
            life.ask(command)

        with self._taking(self.connection.deployment.order_events_queue_url, take):
            yield

    @contextmanager
    def _taking(self, queue_url: str, take: Callable[[str], object]) -> Iterator[None]:
        over = Event()

        def work() -> None:
            while not over.wait(0.05):
                for body in self.received(queue_url):
                    take(body)

        worker = Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            over.set()
            worker.join()


@pytest.fixture(scope="session")
def stack(cloud_access: Access) -> str:
    name = f"shop-{uuid4().hex[:8]}"
    client = boto3.client("cloudformation", **cloud_access)
    client.create_stack(StackName=name, TemplateBody=json.dumps(template()))
    client.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    return name


@pytest.fixture(scope="session")
def lasting_shop(cloud: Server, cloud_access: Access, stack: str) -> Shop:
    target = Target(stack=stack, endpoint=cloud.endpoint, region=REGION)
    clients = (boto3.client("sqs", **cloud_access), boto3.resource("dynamodb", **cloud_access))
    return Shop(target, connect(target), *clients)


@pytest.fixture
def shop(lasting_shop: Shop) -> Iterator[Shop]:
    """The stack, with nothing in it."""
    yield lasting_shop
    lasting_shop.clear()


@pytest.fixture
def run(shop: Shop) -> Run:
    """Type a `stepward` command for the shop."""
    target = shop.target
    environment = {"STEPWARD_STACK": target.stack, "STEPWARD_ENDPOINT": target.endpoint, "AWS_REGION": REGION}

    def typed(*words: str, stdin: str | None = None) -> Result:
        result = CliRunner(env=environment).invoke(app, list(words), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return typed
