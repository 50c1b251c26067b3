"""A stack without functions: what the command line sends stays in the queues, unless a test runs a Scheduler."""

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
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.cli.main import app
from stepward.domain.convoy.commands import ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.submission import Order
from stepward.local.access import REGION, Access
from stepward.local.server import Server
from stepward.operator.connection import Connection
from stepward.testing.aws.tables import create_table
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.settings import Settings
from stepward.testing.sqs.source import SqsSource
from stepward.wire.convoy import decode_for_lane
from tests.emptied import emptied
from tests.unit.cli.lives import TIMING, Life
from tests.unit.cli_convoy.lane_lives import LaneLife

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBServiceResource
    from mypy_boto3_sqs import SQSClient

Run = Callable[..., Result]
QUEUES = ("Orders", "Scheduler", "Responses", "Ledgers", "OrderEvents")
AGENTS = ("inventory", "payments", "shipping")
TABLES = ("orders", "tasks", "rejects", "shared_records", "lanes")
WORKFLOWS = {
    "names": ["line", "gifts"],
    "perCustomer": ["gifts"],
    "types": ["order.submitted", "gift.submitted"],
}
FIFO: Any = {"FifoQueue": "true", "FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup"}


def outputs(access: Access, prefix: str) -> dict[str, str]:
    """Create tables, queues and a bucket; returns what a stack's outputs say of them."""
    sqs, dynamodb = boto3.client("sqs", **access), boto3.client("dynamodb", **access)
    boto3.client("s3", **access).create_bucket(Bucket=prefix)

    def queue(name: str) -> str:
        fifo = name.endswith(("Ledgers", "OrderEvents", "BigShop"))
        made = sqs.create_queue(QueueName=f"{prefix}-{name}{'.fifo' * fifo}", Attributes=FIFO if fifo else {})
        return made["QueueUrl"]

    urls = {name: queue(name) for name in QUEUES}
    agents = {name: queue(name) for name in AGENTS}
    named = {"orders": "Orders", "scheduler": "Scheduler", "responses": "Responses", "agent-inventory": "inventory"}
    named |= {"ledgers": "Ledgers", "order-events": "OrderEvents"}
    tables = {kind: create_table(dynamodb, kind, f"{prefix}-{kind}") for kind in TABLES}
    dead = {name: {"source": (urls | agents)[each], "dead": queue(f"Dead{each}")} for name, each in named.items()}
    return {
        **{f"{kind.title().replace('_', '')}TableName": name for kind, name in tables.items()},
        **{f"{name}QueueUrl": url for name, url in urls.items()},
        "AgentQueueUrls": json.dumps(agents),
        "AgentFunctionNames": "{}",
        "DeadLetterQueueUrls": json.dumps(dead),
        "CustomerLedgerQueueUrls": json.dumps({"big-shop": queue("BigShop")}),
        "LedgersBucketName": prefix,
        "RejectsBucketName": prefix,
        "AlertsTopicArn": "arn:aws:sns:us-east-1:000000000000:alerts",
        "SupervisorFunctionName": "supervisor",
        "Shards": "4",
        "Workflows": json.dumps(WORKFLOWS),
    }


@dataclass(frozen=True)
class Shop:
    """A deployment, and what tests put into it or read from it."""

    target: Target
    connection: Connection
    sqs: SQSClient
    dynamodb: DynamoDBServiceResource

    def store(self, life: Life) -> None:
        first = Life(life.order_id, life.plan).task
        body = json.dumps(dict(life.loaded.order))
        self.connection.store.submit(Order(life.order_id, body, "hash"), first, life.plan)
        assert self.connection.store.save(life.task, replaces=first)

    def bury(self, queue: str, *bodies: str, group: str = "") -> None:
        """Put messages into the dead-letter queue of `queue`."""
        url = self.connection.deployment.dead_letters[queue].dead
        for body in bodies:
            ids: Any = {"MessageGroupId": group} if group else {}
            if url.endswith(".fifo"):
                ids["MessageDeduplicationId"] = f"first-{uuid4().hex}"
            self.sqs.send_message(QueueUrl=url, MessageBody=body, **ids)

    def received(self, queue_url: str) -> list[str]:
        return [message.body for message in emptied(SqsSource(self.sqs, queue_url, arn=""))]

    def clear(self) -> None:
        parts = self.connection.deployment
        for kind in TABLES:
            table = self.dynamodb.Table(getattr(parts, f"{kind}_table"))
            # The store remembers which plans it has stored.
            items = [item for item in table.scan()["Items"] if not str(item.get("OrderID", "")).startswith(PLAN_PREFIX)]
            for item in items:
                table.delete_item(Key={key["AttributeName"]: item[key["AttributeName"]] for key in table.key_schema})
        dead_letters = [url for each in parts.dead_letters.values() for url in (each.source, each.dead)]
        own = [*parts.agent_queue_urls.values(), *parts.customer_ledger_queue_urls.values()]
        for queue_url in {*dead_letters, *own}:
            self.received(queue_url)

    def schedule(self) -> Schedule:
        """A Scheduler of this deployment."""
        parts, connection = self.connection.deployment, self.connection
        queues = SqsQueues(self.sqs, parts.scheduler_queue_url, parts.responses_queue_url, parts.agent_queue_urls)
        store, records = connection.store, connection.shared_records
        ports: dict[str, Any] = {"store": store, "shared_records": records, "queues": queues}
        return memory_assembly(connection.now, settings=Settings(timing=TIMING), **ports).scheduler("scheduler-1")

    def lane(self) -> LaneLife:
        """A convoy of this deployment."""
        return LaneLife(lanes=self.connection.lanes, shared_records=self.connection.shared_records)

    @contextmanager
    def at_work(self, before: Callable[[], object] = tuple, afterwards: Callable[[], object] = tuple) -> Iterator[None]:
        """Run a Scheduler during the block; calls `before` and `afterwards` around each message."""
        schedule = self.schedule()

        def take(body: str) -> None:
            before()
            schedule.handle(body)
            afterwards()

        with self._taking(self.connection.deployment.scheduler_queue_url, take):
            yield

    @contextmanager
    def convoy_at_work(self, life: LaneLife, before: Callable[[], object] = tuple) -> Iterator[None]:
        """Run the convoy during the block; calls `before` ahead of each command."""

        def take(body: str) -> None:
            before()
            command = decode_for_lane(body)
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
    values = {output: {"Value": value} for output, value in outputs(cloud_access, name).items()}
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": values}
    client = boto3.client("cloudformation", **cloud_access)
    client.create_stack(StackName=name, TemplateBody=json.dumps(template))
    client.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    return name


@pytest.fixture(scope="session")
def lasting_shop(cloud: Server, cloud_access: Access, stack: str) -> Shop:
    target = Target(stack=stack, endpoint=cloud.endpoint, region=REGION)
    clients = (boto3.client("sqs", **cloud_access), boto3.resource("dynamodb", **cloud_access))
    return Shop(target, connect(target), *clients)


@pytest.fixture(autouse=True)
def _one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look into a queue without waiting: a queue of the local cloud has no second server that could know more."""
    monkeypatch.setattr("stepward.operator.dead_letters.queue.LONG_POLL_S", 0)


@pytest.fixture
def shop(lasting_shop: Shop) -> Iterator[Shop]:
    """The stack, with nothing in it."""
    yield lasting_shop
    lasting_shop.clear()


@pytest.fixture
def run(shop: Shop) -> Run:
    """Run a `stepward` command for the shop."""
    target = shop.target
    environment = {"STEPWARD_STACK": target.stack, "STEPWARD_ENDPOINT": target.endpoint, "AWS_REGION": REGION}

    def typed(*words: str, stdin: str | None = None) -> Result:
        result = CliRunner(env=environment).invoke(app, list(words), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return typed
