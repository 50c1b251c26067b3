"""A deployment on moto: tables, queues and topic, and events as Lambda hands them to the functions."""

import copy
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import boto3
from moto.core.models import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.sqs.models import sqs_backends
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_sns import SNSClient
from mypy_boto3_sqs import SQSClient

from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.app.agent.breakers import Breakers
from stepward.domain.convoy.lane import Lane
from stepward.domain.task.record import StepRecord, Task
from stepward.local.access import REGION
from stepward.testing.aws.stack import REJECTS, Stack
from stepward.testing.sqs.lambda_events import LambdaContext, event_of
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.lanes import lanes_in
from stepward.wiring.submission import submission as submission_of
from stepward.wiring.tasks import task_store
from tests.contract.worlds import shared_record_tables
from tests.contract.worlds.store_worlds import SHARDS, Tables
from tests.emptied import emptied
from tests.shop import app

ROOT = Path(__file__).parents[3]
AGENTS = [agent.name for agent in app.agents]
ORDER_ID = "ord-1001"
PLENTY = LambdaContext("any", "r-1", ends_at=60_000, clock=lambda: 0)

Event = dict[str, Any]


def sample(name: str) -> Event:
    """A real event of `tests/events`."""
    event: Event = json.loads((ROOT / "tests" / "events" / name).read_text())
    return event


def batch(kind: str, bodies: Sequence[str]) -> Event:
    """An event like the sample of that name, with a record for each body, named m-0, m-1 and so on."""
    (record,) = sample(kind)["Records"]
    records = [{**copy.deepcopy(record), "messageId": f"m-{n}", "body": body} for n, body in enumerate(bodies)]
    return {"Records": records}


def order_body(order_id: str = ORDER_ID, **changes: Any) -> str:
    """The sample order under another id, or changed otherwise."""
    (record,) = sample("sqs-order-plain.json")["Records"]
    return json.dumps(json.loads(record["body"]) | {"orderId": order_id, **changes})


def failed(answer: Any) -> list[str]:
    """The ids of the messages that come back."""
    assert list(answer) == ["batchItemFailures"]
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


@dataclass(frozen=True)
class Deployment:
    """What the stack would deploy, and the environment that it would give to the functions."""

    dynamodb: DynamoDBClient
    sqs: SQSClient
    sns: SNSClient
    tables: Tables
    queues: dict[str, str]
    topic: str
    shared_records: str
    lanes_table: str
    env: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def new() -> "Deployment":
        stack = Stack.new(AGENTS)
        tables = Tables(*(stack.tables[kind] for kind in ("orders", "tasks", "rejects")))
        clients = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("sns")
        env = stack.env() | {"STEPWARD_REPLY_ACCOUNTS": "123456789012,111122223333", "STEPWARD_SHARDS": str(SHARDS)}
        shared_records, lanes = stack.tables["shared_records"], stack.tables["lanes"]
        return Deployment(*clients, tables, dict(stack.queues), stack.topic, shared_records, lanes, env)

    @cached_property
    def breakers(self) -> Breakers:
        return Breakers(shared_record_tables.on(self.shared_records))

    @cached_property
    def store(self) -> DynamoTaskStore:
        names = self.tables
        return task_store(Access(REGION), orders=names.orders, tasks=names.tasks, shards=SHARDS)

    @cached_property
    def lanes(self) -> DynamoLanes:
        return lanes_in(Access(REGION), self.lanes_table, SHARDS)

    def lane(self, order_id: str) -> Lane:
        found = self.lanes.load(order_id)
        assert found is not None
        return found

    def rejects(self) -> list[dict[str, Any]]:
        """Every row of rejects, with its body: the samples are older than what people are shown."""
        rows = cast("list[dict[str, Any]]", self.dynamodb.scan(TableName=self.tables.rejects)["Items"])
        for row in rows:
            if "BodyKey" in row:
                found = boto3.client("s3").get_object(Bucket=REJECTS, Key=row["BodyKey"]["S"])
                row["Body"] = {"B": found["Body"].read()}
        return sorted(rows, key=lambda row: row["Key"]["S"])

    def task(self, order_id: str = ORDER_ID) -> Task:
        loaded = self.store.load(order_id)
        assert loaded is not None
        return loaded.task

    def step(self, name: str, order_id: str = ORDER_ID) -> StepRecord:
        return self.task(order_id).steps[name]

    def order_ids(self) -> set[str]:
        return {row["OrderID"]["S"] for row in self.dynamodb.scan(TableName=self.tables.orders)["Items"]}

    def put(self, *bodies: str) -> None:
        """Submit orders, and leave their first steps to the Scheduler, which is sent a start of each."""
        unknown = self.env | {"STEPWARD_AGENTS": "unknown"}
        assert failed(submission_of(app, unknown)(batch("sqs-order-plain.json", bodies), PLENTY)) == []

    def taken(self, queue: str) -> list[str]:
        """The bodies of all messages of a queue, which is empty afterwards."""
        return [message.body for message in emptied(self.source(queue))]

    def source(self, queue: str) -> SqsSource:
        return SqsSource.at(self.sqs, self.queues[queue])

    def received(self, queue: str) -> Event:
        """Messages taken out of a queue for 30 seconds, as Lambda hands them over."""
        source = self.source(queue)
        return event_of(source.receive(10), source.arn)

    def hidden_for(self, queue: str) -> list[float]:
        """The seconds until each message of the queue is visible, which no call to SQS tells."""
        messages = sqs_backends[ACCOUNT_ID][REGION].queues[self.queues[queue].rpartition("/")[2]]._messages
        return [message.visible_at / 1000 - time.time_ns() / 1e9 for message in messages]

    def lose(self, queue: str) -> None:
        """From now on nothing can be sent to this queue."""
        self.sqs.delete_queue(QueueUrl=self.queues[queue])
