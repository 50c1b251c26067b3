"""The queues and alerts of one test in one of the three worlds, under the same short names."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
from mypy_boto3_events import EventBridgeClient
from mypy_boto3_sqs import SQSClient

from stepward.adapters.alerts.both import OperatorAlerts
from stepward.adapters.alerts.event_bus import SOURCE, EventBus, detail, detail_type
from stepward.adapters.alerts.sns import SnsTopic
from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.queues import SqsQueues, SqsSender
from stepward.domain.messages import AgentDefect, Alert, LaneWaits
from stepward.ports import Queues
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues, send
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.poller import Source
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.source import SqsSource
from tests.contract.worlds.access import Access

AGENTS = ("payments", "inventory")
HIGH = "payments-high"
STANDARD = ("scheduler", "responses", *AGENTS, HIGH, "dead", "inbox", "events")
FIFO = "convoy.fifo"
MAX_RECEIVE_COUNT = 2
PATIENCE_S = 5

BACKLOG = 10


@dataclass(frozen=True)
class MemoryWorld:
    """`payments` hands over to `dead` what was received twice, here and on SQS."""

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
        named, agents = self.named, {name: self.named[name] for name in AGENTS}
        return MemoryQueues(named["scheduler"], named["responses"], agents, BACKLOG, {"payments": named[HIGH]})

    def source(self, name: str) -> Source:
        return self.named[name]

    def send(self, name: str, messages: Sequence[Outgoing]) -> None:
        send(self.named[name], messages)

    def release(self, name: str, handle: str) -> None:
        """Make a received message visible again at once."""
        self.named[name].change_visibility(handle, 0)

    def alerted(self, awaited: int) -> list[tuple[str, str, str, int]]:
        """Alert id, order id, step and attempt of the single alerts that arrived, once `awaited` of them have."""
        assert len(self.alerts.told) >= awaited
        return [_named(alert) for alert in self.alerts.told]

    def summaries(self) -> list[str]:
        """How many alerts each summary that arrived counts, once one has."""
        return [str(len(summary)) for summary in self.alerts.summaries]

    def heard(self, awaited: int) -> list[tuple[str, Mapping[str, Any]]]:
        """Type and detail of the events that arrived, once `awaited` of them have."""
        assert len(self.alerts.events) >= awaited
        return [(detail_type(alert), json.loads(detail(alert))) for alert in self.alerts.events]


@dataclass(frozen=True)
class SqsWorld:
    client: SQSClient
    urls: Mapping[str, str]
    alerts: OperatorAlerts

    @staticmethod
    def new(access: Access) -> "SqsWorld":
        client, sns = boto3.client("sqs", **access), boto3.client("sns", **access)
        events = boto3.client("events", **access)
        prefix = f"contract-{uuid.uuid4().hex[:8]}-"
        urls = {name: client.create_queue(QueueName=prefix + name)["QueueUrl"] for name in STANDARD}
        fifo = client.create_queue(QueueName=prefix + FIFO, Attributes={"FifoQueue": "true"})
        topic = sns.create_topic(Name=f"{prefix}alerts")["TopicArn"]
        bus = f"{prefix}bus"
        events.create_event_bus(Name=bus)
        alerts = OperatorAlerts(SnsTopic(sns, topic), EventBus(events, bus))
        world = SqsWorld(client, {**urls, FIFO: fifo["QueueUrl"]}, alerts)
        redrive = {"deadLetterTargetArn": world.source("dead").arn, "maxReceiveCount": str(MAX_RECEIVE_COUNT)}
        client.set_queue_attributes(QueueUrl=urls["payments"], Attributes={"RedrivePolicy": json.dumps(redrive)})
        inbox = world.source("inbox").arn
        policy = _open_to("sns", topic, inbox)
        client.set_queue_attributes(QueueUrl=urls["inbox"], Attributes={"Policy": policy})
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=inbox)
        return world

    def listen(self, events: EventBridgeClient) -> None:
        """Have what is put on the event bus come to a queue."""
        bus, queue = self.alerts.machines.bus, self.source("events").arn
        pattern = json.dumps({"source": [SOURCE]})
        rule = events.put_rule(Name=f"{bus}-rule", EventBusName=bus, EventPattern=pattern)["RuleArn"]
        policy = _open_to("events", rule, queue)
        self.client.set_queue_attributes(QueueUrl=self.urls["events"], Attributes={"Policy": policy})
        events.put_targets(Rule=f"{bus}-rule", EventBusName=bus, Targets=[{"Id": "heard", "Arn": queue}])

    @property
    def queues(self) -> Queues:
        urls, agents = self.urls, {name: self.urls[name] for name in AGENTS}
        high = {"payments": urls[HIGH]}
        return SqsQueues(self.client, urls["scheduler"], urls["responses"], agents, BACKLOG, high)

    def source(self, name: str) -> Source:
        return SqsSource.at(self.client, self.urls[name])

    def send(self, name: str, messages: Sequence[Outgoing]) -> None:
        SqsSender(self.client).send(self.urls[name], messages)

    def release(self, name: str, handle: str) -> None:
        self.client.change_message_visibility(QueueUrl=self.urls[name], ReceiptHandle=handle, VisibilityTimeout=0)

    def alerted(self, awaited: int) -> list[tuple[str, str, str, int]]:
        notices = [body["MessageAttributes"] for body in self._arrived("inbox", awaited)]
        return [(_read(n, "alertId"), _read(n, "orderId"), _read(n, "step"), int(_read(n, "attempt"))) for n in notices]

    def summaries(self) -> list[str]:
        return [_read(body["MessageAttributes"], "alerts") for body in self._arrived("inbox", 1)]

    def heard(self, awaited: int) -> list[tuple[str, Mapping[str, Any]]]:
        return [(body["detail-type"], body["detail"]) for body in self._arrived("events", awaited)]

    def _arrived(self, queue: str, awaited: int) -> list[Any]:
        """What came to the queue. Topics and buses deliver in their own time: the receive answers when they have."""
        bodies: list[Any] = []
        while len(bodies) < awaited and (more := self._receive(queue)):
            bodies += more
        return bodies

    def _receive(self, queue: str) -> list[Any]:
        url = self.urls[queue]
        answer = self.client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=PATIENCE_S)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]


QueueWorld = MemoryWorld | SqsWorld


def _named(alert: Alert) -> tuple[str, str, str, int]:
    if isinstance(alert, LaneWaits):
        return alert.alert_id, alert.order_id, f"event {alert.event}", 0
    if isinstance(alert, AgentDefect):
        return alert.alert_id, "", f"{alert.agent}.{alert.operation}", 0
    return alert.alert_id, alert.order_id, alert.step, alert.attempt


def _open_to(service: str, source: str, queue: str) -> str:
    """The queue policy without which what a topic or a rule sends is dropped."""
    allowed = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": queue}
    who = {"Principal": {"Service": f"{service}.amazonaws.com"}, "Condition": {"ArnEquals": {"aws:SourceArn": source}}}
    return json.dumps({"Version": "2012-10-17", "Statement": [allowed | who]})


def _read(notice: Mapping[str, Any], name: str) -> str:
    return str(notice[name]["Value"])
