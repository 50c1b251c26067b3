"""The deployed stack as the demonstration uses it: it sends messages there, and reads the evidence for the audit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3

from orders.demo.audit import Evidence, Heard
from orders.demo.inbox import Inbox
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.tables import Access, OrderItem, bound
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.queues import SqsSender
from stepward.app.agent.breakers import Breakers
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.sequence import MOST_UNSEQUENCED
from stepward.domain.errors import Transient
from stepward.domain.rejects import Reject
from stepward.domain.task.record import Task
from stepward.local.access import REGION, access
from stepward.local.services import Ledger
from stepward.local.wake import wake
from stepward.stack_outputs import Deployment
from stepward.wiring.lanes import lanes_in
from stepward.wiring.parts import rejects_of, shared_records_of
from stepward.wiring.tasks import task_store

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}
"""What only an emulator accepts."""
WAKE_EVERY_S = 1.0
MOST_REJECTS = 10_000
MOST_ROWS = 100


@dataclass(slots=True)
class Stage:
    """A deployment on the local cloud at `endpoint`, with the inboxes of an operator and a submitter."""

    endpoint: str
    deployment: Deployment
    submitter: Inbox
    operator: Inbox = field(init=False)
    orders: DynamoOrders = field(init=False)
    store: DynamoTaskStore = field(init=False)
    lanes: DynamoLanes = field(init=False)
    rejects: DynamoRejects = field(init=False)
    breakers: Breakers = field(init=False)
    sqs: SQSClient = field(init=False)

    def __post_init__(self) -> None:
        there, names = Access(REGION, self.endpoint, ("test", "test")), self.deployment
        self.orders = DynamoOrders(bound(OrderItem, names.orders_table, there))
        self.store = task_store(there, orders=None, tasks=names.tasks_table, shards=names.shards)
        self.lanes = lanes_in(there, names.lanes_table, names.shards)
        s3 = partial(boto3.client, "s3", **access(self.endpoint))
        self.rejects = rejects_of(there, names.rejects_table, s3, names.rejects_bucket)
        self.breakers = Breakers(shared_records_of(there, names.shared_records_table))
        self.sqs = boto3.client("sqs", **access(self.endpoint))
        self.operator = Inbox(self.endpoint, "demo-operator")
        self.operator.subscribe(names.alerts_topic_arn)

    def send(self, messages: Sequence[str]) -> None:
        """Send order messages."""
        SqsSender(self.sqs).send(self.deployment.orders_queue_url, [Outgoing(body) for body in messages])

    def send_ledgers(self, ledgers: Sequence[Mapping[str, Any]], first: int = 0) -> None:
        """Send ledgers, one message group per customer; `first` is the number of ledgers sent before.

        A repeated ledger is a new message to the queue.
        """
        messages = [
            Outgoing(json.dumps(ledger), ledger["customerId"], f"{ledger['ledgerId']}-{number}")
            for number, ledger in enumerate(ledgers, first)
        ]
        SqsSender(self.sqs).send(self.deployment.ledgers_queue_url, messages)

    def type_in(self, words: Sequence[str]) -> None:
        """Run a `stepward` command, without waiting for its outcome."""
        env = os.environ | CREDENTIALS | {"STEPWARD_ENDPOINT": self.endpoint}
        command = [sys.executable, "-c", "from stepward.cli.main import main; main()", *words, "--no-wait"]
        subprocess.run(command, env=env, check=True, capture_output=True, timeout=60)  # noqa: S603 - our own command

    def tasks(self) -> Mapping[str, Task]:
        """Every task by order id, without corrupt records, which the audit counts as lost."""
        return {task.order_id: task for task in self.store.every(None) if isinstance(task, Task)}

    def evidence(self, ledger: Ledger, others: Collection[str] = ()) -> Evidence:
        """Everything that the audit of the orders compares; `others` are the orders of the ledgers."""
        tasks = {order_id: task for order_id, task in self.tasks().items() if order_id not in others}
        self.submitter.receive()
        alerts = self.alerts()
        return Evidence(
            tasks=tasks,
            stored=frozenset(order_id for order_id in tasks if self.orders.find(order_id)),
            rejects=self.newest_rejects(),
            alerted=frozenset(order_id for order_id in tasks if any(order_id in alert for alert in alerts)),
            effects=[effect for effect in ledger.effects() if effect.key.split("/")[0] not in others],
            notices=[heard(text) for text in self.submitter.received],
            replayed=sum(entry.outcome == "replayed" for entry in ledger.entries()),
        )

    def stored_events(self, lane: Lane) -> Sequence[StoredEvent]:
        """All stored events of a lane, in the order of their positions."""
        rows, first = {each.position: each for each in lane.recent}, -MOST_UNSEQUENCED
        while found := self.lanes.rows(lane.order_id, first, MOST_ROWS):
            rows = {each.position: each for each in found} | rows
            first = found[-1].position + 1
        return [rows[position] for position in sorted(rows)]

    def newest_rejects(self) -> Sequence[Reject]:
        """All rejects, the newest first."""
        return [self.rejects.whole(reject) for reject in self.rejects.newest(MOST_REJECTS)]

    def alerts(self) -> Sequence[str]:
        """The texts of all alerts to the operators so far."""
        self.operator.receive()
        return self.operator.received

    @contextmanager
    def supervised(self, every_s: float = WAKE_EVERY_S) -> Iterator[None]:
        """Invoke the Supervisor every `every_s` seconds, in addition to its schedule, until the block ends."""
        functions, over = boto3.client("lambda", **access(self.endpoint)), threading.Event()

        def keep_waking() -> None:
            while not over.wait(every_s):
                # A failure does no harm: what is overdue stays due until the next sweep.
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
    """The notice in a message to the submitter; that a message was rejected is of no revision of the order."""
    notice = json.loads(text)
    status, step = notice.get("status", "rejected"), notice.get("step") or ""
    return Heard(notice["orderId"], notice["correlationId"], status, step, notice.get("revision", 0))
