"""A deployment on moto: tables, queues and topic, and events as Lambda hands them to the functions."""

import copy
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import boto3
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_sns import SNSClient
from mypy_boto3_sqs import SQSClient

import orders
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access
from stepward.app.breakers import Breakers
from stepward.domain.lane import Lane
from stepward.domain.task import StepRecord, Task
from stepward.local.access import REGION
from stepward.wiring.tasks import task_store
from tests.contract import control_tables, lane_worlds
from tests.contract.store_worlds import SHARDS, Tables

ROOT = Path(__file__).parents[3]
AGENTS = orders.app.plan().agents
ORDER_ID = "ord-1001"
BUCKET = "ledgers"

Event = dict[str, Any]


def sample(name: str) -> Event:
    """A real event of `events/`."""
    event: Event = json.loads((ROOT / "events" / name).read_text())
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
    controls: str
    lanes_table: str
    env: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def new() -> "Deployment":
        dynamodb, sqs, sns = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("sns")
        names = ["scheduler", "responses", "inbox", *(f"agent-{agent}" for agent in AGENTS)]
        queues = {name: sqs.create_queue(QueueName=name)["QueueUrl"] for name in names}
        queues["order-events"] = sqs.create_queue(QueueName="order-events.fifo", Attributes={"FifoQueue": "true"})[
            "QueueUrl"
        ]
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        topic = sns.create_topic(Name="alerts")["TopicArn"]
        inbox = sqs.get_queue_attributes(QueueUrl=queues["inbox"], AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=inbox)
        tables, controls = Tables.created(dynamodb), control_tables.created(dynamodb)
        lanes = lane_worlds.created(dynamodb)
        deployment = Deployment(dynamodb, sqs, sns, tables, queues, topic, controls, lanes)
        deployment.env.update(deployment.settings())
        return deployment

    def settings(self) -> dict[str, str]:
        return {
            "AWS_REGION": REGION,
            "STEPWARD_ORDERS_TABLE": self.tables.orders,
            "STEPWARD_TASKS_TABLE": self.tables.tasks,
            "STEPWARD_REJECTS_TABLE": self.tables.rejects,
            "STEPWARD_CONTROLS_TABLE": self.controls,
            "STEPWARD_LANES_TABLE": self.lanes_table,
            "STEPWARD_LANES_QUEUE": self.queues["order-events"],
            "STEPWARD_LEDGERS_BUCKET": BUCKET,
            "STEPWARD_SCHEDULER_QUEUE": self.queues["scheduler"],
            "STEPWARD_RESPONSES_QUEUE": self.queues["responses"],
            "STEPWARD_AGENT_QUEUES": json.dumps({agent: self.queues[f"agent-{agent}"] for agent in AGENTS}),
            "STEPWARD_ALERTS_TOPIC": self.topic,
            "STEPWARD_REPLY_ACCOUNTS": "123456789012,111122223333",
            "STEPWARD_REPLY_REGIONS": REGION,
            "STEPWARD_REPLY_PREFIXES": "replies-",
            "STEPWARD_OWN_PREFIX": "stepward-",
            "STEPWARD_SHARDS": str(SHARDS),
            "POWERTOOLS_SERVICE_NAME": f"stepward-{uuid.uuid4().hex[:8]}",
            "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
            "POWERTOOLS_LOG_LEVEL": "INFO",
        }

    @cached_property
    def breakers(self) -> Breakers:
        return Breakers(control_tables.on(self.controls))

    @cached_property
    def store(self) -> DynamoTaskStore:
        names = self.tables
        return task_store(Access(REGION), orders=names.orders, tasks=names.tasks, shards=SHARDS)

    @cached_property
    def lanes(self) -> DynamoLanes:
        return lane_worlds.on(self.lanes_table, Access(REGION))

    def lane(self, order_id: str) -> Lane:
        found = self.lanes.load(order_id)
        assert found is not None
        return found

    def kept(self) -> list[dict[str, Any]]:
        """Every row of rejects, as it lies in the table: the samples are older than what people are shown."""
        rows = cast("list[dict[str, Any]]", self.dynamodb.scan(TableName=self.tables.rejects)["Items"])
        return sorted(rows, key=lambda row: row["Key"]["S"])

    def task(self, order_id: str = ORDER_ID) -> Task:
        loaded = self.store.load(order_id)
        assert loaded is not None
        return loaded.task

    def step(self, name: str, order_id: str = ORDER_ID) -> StepRecord:
        return self.task(order_id).steps[name]

    def order_ids(self) -> set[str]:
        return {row["OrderID"]["S"] for row in self.dynamodb.scan(TableName=self.tables.orders)["Items"]}

    def taken(self, queue: str) -> list[str]:
        """The bodies of all messages of a queue, which is empty afterwards."""
        bodies: list[str] = []
        while messages := self.sqs.receive_message(QueueUrl=self.queues[queue], MaxNumberOfMessages=10).get("Messages"):
            bodies += [message["Body"] for message in messages]
            for message in messages:
                self.sqs.delete_message(QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"])
        return bodies

    def lose(self, queue: str) -> None:
        """From now on nothing can be sent to this queue."""
        self.sqs.delete_queue(QueueUrl=self.queues[queue])
