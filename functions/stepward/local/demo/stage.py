"""The deployed stack as the demonstration sees it: what it sends there, and what it reads back as evidence."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import boto3

from stepward import wiring
from stepward.adapters.delivery import Outgoing
from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access, OrderItem, bound
from stepward.adapters.sqs import SqsSender
from stepward.domain.errors import Transient
from stepward.domain.task import Task
from stepward.local.access import REGION, access
from stepward.local.demo.audit import Evidence
from stepward.local.deployment import Deployment
from stepward.local.services import Ledger
from stepward.local.wake import wake

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

WAKE_EVERY_S = 1.0
MOST_REJECTS = 10_000


@dataclass(slots=True)
class Stage:
    """A deployment on the local cloud at `endpoint`, with a queue of its own that hears the alerts."""

    endpoint: str
    deployment: Deployment
    orders: DynamoOrders = field(init=False)
    store: DynamoTaskStore = field(init=False)
    rejects: DynamoRejects = field(init=False)
    sqs: SQSClient = field(init=False)
    alerts_queue: str = field(init=False)
    alerted: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        there, names = Access(REGION, self.endpoint, ("test", "test")), self.deployment
        self.orders = DynamoOrders(bound(OrderItem, names.orders_table, there))
        self.store = wiring.task_store(there, orders=None, tasks=names.tasks_table, shards=names.shards)
        self.rejects = wiring.kept_rejects(there, names.rejects_table)
        self.sqs = boto3.client("sqs", **access(self.endpoint))
        self.alerts_queue = self._listen(names.alerts_topic_arn)

    def _listen(self, topic: str) -> str:
        """Make a queue that hears what `topic` says; its URL."""
        url = self.sqs.create_queue(QueueName="demo-alerts")["QueueUrl"]
        described = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        queue = described["Attributes"]["QueueArn"]
        allowed = {
            "Effect": "Allow",
            "Principal": {"Service": "sns.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": queue,
            "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
        boto3.client("sns", **access(self.endpoint)).subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue)
        return url

    def send(self, messages: Sequence[str]) -> None:
        """Send order messages as they are."""
        SqsSender(self.sqs).send(self.deployment.orders_queue_url, [Outgoing(body) for body in messages])

    def tasks(self) -> Mapping[str, Task]:
        """Every task as it stands; one that cannot be read counts as lost."""
        return {task.order_id: task for task in self.store.every(None) if isinstance(task, Task)}

    def hear_alerts(self) -> frozenset[str]:
        """The ids of all orders that an operator has been told of so far."""
        while messages := self.sqs.receive_message(QueueUrl=self.alerts_queue, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                attributes = json.loads(message["Body"]).get("MessageAttributes", {})
                self.alerted |= {attributes["orderId"]["Value"]} if "orderId" in attributes else set()
                self.sqs.delete_message(QueueUrl=self.alerts_queue, ReceiptHandle=message["ReceiptHandle"])
        return frozenset(self.alerted)

    def evidence(self, ledger: Ledger) -> Evidence:
        """Everything that the audit compares."""
        tasks, effects = self.tasks(), ledger.effects()
        return Evidence(
            tasks=tasks,
            stored=frozenset(order_id for order_id in tasks if self.orders.find(order_id)),
            rejects=self.rejects.newest(MOST_REJECTS),
            alerted=self.hear_alerts(),
            effects=Counter(effect.key for effect in effects if not effect.undo_of),
            undone=frozenset(effect.undo_of for effect in effects if effect.undid),
        )

    @contextmanager
    def supervised(self) -> Iterator[None]:
        """Wake the Supervisor every second, beside its schedule, for as long as the block runs."""
        functions, over = boto3.client("lambda", **access(self.endpoint)), threading.Event()

        def keep_waking() -> None:
            while not over.wait(WAKE_EVERY_S):
                # One that fails is woken again; what is overdue stays due.
                with suppress(Transient):
                    wake(functions, self.deployment.supervisor_function)

        waker = threading.Thread(target=keep_waking, daemon=True)
        waker.start()
        try:
            yield
        finally:
            over.set()
            waker.join()
