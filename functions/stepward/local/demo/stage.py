"""The deployed stack as the demonstration sees it: what it sends there, and what it reads back as evidence."""

from __future__ import annotations

import json
import threading
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
from stepward.app.breakers import Breakers
from stepward.domain.errors import Transient
from stepward.domain.task import Task
from stepward.local.access import REGION, access
from stepward.local.demo.audit import Evidence, Heard
from stepward.local.demo.inbox import Inbox
from stepward.local.deployment import Deployment
from stepward.local.services import Ledger
from stepward.local.wake import wake

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

WAKE_EVERY_S = 1.0
MOST_REJECTS = 10_000


@dataclass(slots=True)
class Stage:
    """A deployment on the local cloud at `endpoint`, with an operator and a submitter who listen."""

    endpoint: str
    deployment: Deployment
    submitter: Inbox
    operator: Inbox = field(init=False)
    orders: DynamoOrders = field(init=False)
    store: DynamoTaskStore = field(init=False)
    rejects: DynamoRejects = field(init=False)
    breakers: Breakers = field(init=False)
    sqs: SQSClient = field(init=False)

    def __post_init__(self) -> None:
        there, names = Access(REGION, self.endpoint, ("test", "test")), self.deployment
        self.orders = DynamoOrders(bound(OrderItem, names.orders_table, there))
        self.store = wiring.task_store(there, orders=None, tasks=names.tasks_table, shards=names.shards)
        self.rejects = wiring.kept_rejects(there, names.rejects_table)
        self.breakers = Breakers(wiring.shared_controls(there, names.controls_table))
        self.sqs = boto3.client("sqs", **access(self.endpoint))
        self.operator = Inbox(self.endpoint, "demo-operator")
        self.operator.subscribe(names.alerts_topic_arn)

    def send(self, messages: Sequence[str]) -> None:
        """Send order messages as they are."""
        SqsSender(self.sqs).send(self.deployment.orders_queue_url, [Outgoing(body) for body in messages])

    def tasks(self) -> Mapping[str, Task]:
        """Every task as it stands; one that cannot be read counts as lost."""
        return {task.order_id: task for task in self.store.every(None) if isinstance(task, Task)}

    def evidence(self, ledger: Ledger) -> Evidence:
        """Everything that the audit compares."""
        tasks = self.tasks()
        self.operator.listen()
        self.submitter.listen()
        return Evidence(
            tasks=tasks,
            stored=frozenset(order_id for order_id in tasks if self.orders.find(order_id)),
            rejects=self.rejects.newest(MOST_REJECTS),
            alerted=frozenset(order_id for order_id in tasks if any(order_id in told for told in self.operator.heard)),
            effects=ledger.effects(),
            notices=[heard(text) for text in self.submitter.heard],
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


def heard(text: str) -> Heard:
    """A notice as the submitter reads it."""
    notice = json.loads(text)
    return Heard(notice["orderId"], notice["correlationId"], notice["status"], notice["step"] or "", notice["revision"])
