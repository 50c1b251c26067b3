"""The queues and alerts of one test in one of the three worlds, under the same short names."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mypy_boto3_sns import SNSClient
from mypy_boto3_sqs import SQSClient

from stepward.adapters.delivery import Outgoing
from stepward.adapters.memory.fifo_queue import MemoryFifoQueue
from stepward.adapters.memory.poller import Source
from stepward.adapters.memory.queue import MemoryQueue
from stepward.adapters.memory.queues import MemoryAlerts, MemoryQueues, send
from stepward.adapters.memory.sqs_source import SqsSource
from stepward.adapters.sns import SnsAlerts
from stepward.adapters.sqs import SqsQueues, SqsSender
from stepward.ports import Alerts, Queues

AGENTS = ("payments", "inventory")
STANDARD = ("scheduler", "responses", *AGENTS, "dead", "inbox")
FIFO = "convoy.fifo"
MAX_RECEIVE_COUNT = 2
PATIENCE_S = 5

BACKLOG = 10


class QueueWorld(Protocol):
    """`payments` hands over to `dead` what was received twice."""

    @property
    def queues(self) -> Queues: ...

    @property
    def alerts(self) -> Alerts: ...

    def source(self, name: str) -> Source: ...

    def send(self, name: str, messages: Sequence[Outgoing]) -> None: ...

    def release(self, name: str, handle: str) -> None:
        """Make a received message visible again at once."""

    def told(self, awaited: int) -> list[tuple[str, str, str, int]]:
        """Alert id, order id, step and attempt of the alerts that arrived, once `awaited` of them have."""


@dataclass(frozen=True)
class MemoryWorld:
    named: Mapping[str, MemoryQueue]
    alerts: MemoryAlerts

    @staticmethod
    def new() -> "MemoryWorld":
        def clock() -> int:
            return 1_000_000

        named: dict[str, MemoryQueue] = {name: MemoryQueue(name=name, clock=clock) for name in STANDARD}
        named["payments"].dead_letters = named["dead"]
        named["payments"].max_receive_count = MAX_RECEIVE_COUNT
        return MemoryWorld({**named, FIFO: MemoryFifoQueue(name=FIFO, clock=clock)}, MemoryAlerts())

    @property
    def queues(self) -> Queues:
        agents = {name: self.named[name] for name in AGENTS}
        return MemoryQueues(self.named["scheduler"], self.named["responses"], agents, BACKLOG)

    def source(self, name: str) -> Source:
        return self.named[name]

    def send(self, name: str, messages: Sequence[Outgoing]) -> None:
        send(self.named[name], messages)

    def release(self, name: str, handle: str) -> None:
        self.named[name].change_visibility(handle, 0)

    def told(self, awaited: int) -> list[tuple[str, str, str, int]]:
        assert len(self.alerts.told) >= awaited
        return [(alert.alert_id, alert.order_id, alert.step, alert.attempt) for alert in self.alerts.told]


@dataclass(frozen=True)
class SqsWorld:
    client: SQSClient
    urls: Mapping[str, str]
    alerts: SnsAlerts

    @staticmethod
    def new(client: SQSClient, sns: SNSClient) -> "SqsWorld":
        prefix = f"contract-{uuid.uuid4().hex[:8]}-"
        urls = {name: client.create_queue(QueueName=prefix + name)["QueueUrl"] for name in STANDARD}
        fifo = client.create_queue(QueueName=prefix + FIFO, Attributes={"FifoQueue": "true"})
        topic = sns.create_topic(Name=f"{prefix}alerts")["TopicArn"]
        world = SqsWorld(client, {**urls, FIFO: fifo["QueueUrl"]}, SnsAlerts(sns, topic))
        redrive = {"deadLetterTargetArn": world.source("dead").arn, "maxReceiveCount": str(MAX_RECEIVE_COUNT)}
        client.set_queue_attributes(QueueUrl=urls["payments"], Attributes={"RedrivePolicy": json.dumps(redrive)})
        inbox = world.source("inbox").arn
        client.set_queue_attributes(QueueUrl=urls["inbox"], Attributes={"Policy": _open_to(topic, inbox)})
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=inbox)
        return world

    @property
    def queues(self) -> Queues:
        agents = {name: self.urls[name] for name in AGENTS}
        return SqsQueues(self.client, self.urls["scheduler"], self.urls["responses"], agents, BACKLOG)

    def source(self, name: str) -> Source:
        return SqsSource.at(self.client, self.urls[name])

    def send(self, name: str, messages: Sequence[Outgoing]) -> None:
        SqsSender(self.client).send(self.urls[name], messages)

    def release(self, name: str, handle: str) -> None:
        self.client.change_message_visibility(QueueUrl=self.urls[name], ReceiptHandle=handle, VisibilityTimeout=0)

    def told(self, awaited: int) -> list[tuple[str, str, str, int]]:
        notices: list[Any] = []
        # A topic delivers in its own time: wait for it in the queue, which answers as soon as something is there.
        while len(notices) < awaited and (more := self._inbox()):
            notices += more
        return [(_read(n, "alertId"), _read(n, "orderId"), _read(n, "step"), int(_read(n, "attempt"))) for n in notices]

    def _inbox(self) -> list[Any]:
        answer = self.client.receive_message(
            QueueUrl=self.urls["inbox"], MaxNumberOfMessages=10, WaitTimeSeconds=PATIENCE_S
        )
        return [json.loads(message["Body"])["MessageAttributes"] for message in answer.get("Messages", [])]


def _open_to(topic: str, queue: str) -> str:
    """The queue policy without which a topic's notices are dropped."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue,
        "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _read(notice: Mapping[str, Any], name: str) -> str:
    value: str = notice[name]["Value"]
    return value
