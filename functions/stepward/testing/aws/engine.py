"""An engine of the real handlers: all that Lambda would run, on moto, in one process."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import boto3
import pytest
import time_machine
from aws_lambda_powertools import Metrics
from moto import mock_aws

from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.app.assembly import Application
from stepward.domain.rejects import Reject
from stepward.domain.task.record import StepRecord, Task
from stepward.testing.application import agents_of, through
from stepward.testing.aws.stack import CREDENTIALS, REGION, REJECTS, SHARDS, Stack, environment
from stepward.testing.faults.loop import SECOND, START
from stepward.testing.faults.record import Died
from stepward.testing.harness import Harness
from stepward.testing.services import Services
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.agent import agent
from stepward.wiring.convoy import convoy
from stepward.wiring.ledger import ledger
from stepward.wiring.parts import rejects_of
from stepward.wiring.scheduler import scheduler
from stepward.wiring.submission import submission
from stepward.wiring.supervisor import supervisor
from stepward.wiring.tasks import task_store

Handler = Callable[[Any, Any], Any]
MORE = ("orders", "replies-shop", "ledgers.fifo")
MOST_STEPS = 2_000
SWEEP = 50 * SECOND
"""Milliseconds that a run of the Supervisor has."""
STEP = 15
"""Seconds by which time moves while no message is visible and something is still to come."""


@dataclass(repr=False)
class AwsEngine(Harness):
    """The same as `Engine`, on moto: slower, and with the code of every adapter. It handles one message at a time.

    Time stands still until something waits for it, and then moves for the whole process. It leaves out what Lambda
    adds: timeouts, access rights, several processes at once.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.exits = ExitStack()
        self.exits.enter_context(environment(CREDENTIALS))
        self.time = self.exits.enter_context(time_machine.travel(START / 1000, tick=False))
        self.exits.enter_context(mock_aws())
        self.stack = Stack.new(agents_of(self.app.plans()), MORE)
        self.env = self.stack.env() | {"STEPWARD_WORKFLOW": self.app.keys.default}
        if any(step.answer_within for plan in self.app.plans().values() for step in plan.with_parts):
            made = boto3.client("secretsmanager").create_secret(
                Name="callbacks", SecretString="a key of this test " * 2
            )
            self.env["STEPWARD_CALLBACK_SECRET"] = made["ARN"]
        self.exits.enter_context(environment(self.env))
        self.sqs = boto3.client("sqs")
        self.reply_to = self.stack.queues["replies-shop"]
        self.services = Services(self.wait, lambda: self.loop.now, self.diary.note)
        served: Any = through(self.app, self.services.call)
        self.sources = {
            name: SqsSource.at(self.sqs, url)
            for name, url in self.stack.queues.items()
            if name not in ("replies-shop", "inbox")
        }
        self.makers: dict[str, Callable[[], Handler]] = {name: self._maker(name, served) for name in self.sources}
        self.handlers = {name: make() for name, make in self.makers.items()}
        self.supervisor = supervisor(self.env)

    def close(self) -> None:
        """Restore the time and the environment, and end the mock of AWS."""
        self.exits.close()
        logging.getLogger(self.stack.service).handlers.clear()
        Metrics._metrics.clear()  # noqa: SLF001 - unwritten metrics must not reach the next test

    @property
    def store(self) -> DynamoTaskStore:
        """The state store."""
        names = self.stack.tables
        return task_store(Access(REGION), orders=names["orders"], tasks=names["tasks"], shards=SHARDS)

    @property
    def rejects(self) -> list[Reject]:
        """The newest messages that could not be accepted, oldest first."""
        stored = rejects_of(Access(REGION), self.stack.tables["rejects"], partial(boto3.client, "s3"), REJECTS)
        return [stored.whole(reject) for reject in reversed(stored.newest(100))]

    @property
    def notices(self) -> list[Mapping[str, Any]]:
        """The notices that submitters got since the last call, as parsed JSON."""
        return [json.loads(body) for body in self._taken("replies-shop")]

    @property
    def alerts(self) -> list[str]:
        """The texts of the alerts that operators got since the last call."""
        return [str(json.loads(body)["Message"]) for body in self._taken("inbox")]

    def task(self, order_id: str) -> Task | None:
        """The record of an order; None if it was not accepted."""
        loaded = self.store.load(order_id, with_order=False)
        return loaded.task if loaded else None

    def large_result(self, record: StepRecord) -> Mapping[str, Any]:
        """The result of a step that is kept in a row of its own."""
        return self.store.result(record)

    def post(self, queue: str, text: str) -> None:
        """Put a message into one of the queues, as it is: orders, scheduler, responses, agent-NAME."""
        self.sqs.send_message(QueueUrl=self.stack.queues[queue], MessageBody=text)

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Let everything happen until nothing moves, or `until` is true; AssertionError if there is no end."""
        for _ in range(MOST_STEPS):
            if until():
                return
            if any(self._poll(name) for name in self.sources):
                continue
            dues = self._dues()
            if dues and dues[0] <= self.loop.now:
                self.supervisor({}, LambdaContext("supervisor", "sweep", self.loop.now + SWEEP, lambda: self.loop.now))
            if not (dues or self._waiting()):
                return
            if not any(self._poll(name) for name in self.sources):
                self.wait(STEP)
        raise AssertionError(f"{MOST_STEPS} steps, and no end: something in this application goes round in a circle")

    def wait(self, seconds: float) -> None:
        """Let time pass for the whole process."""
        self.time.shift(seconds)
        self.loop.now += round(seconds * SECOND)

    def _poll(self, name: str) -> bool:
        """Pass one message to its function and replace a process that dies; False if there was no message."""
        poller = Poller(
            source=self.sources[name], handler=self.handlers[name], clock=lambda: self.loop.now, batch_size=1
        )
        try:
            polled = poller.poll()
        except Died:
            self.diary.note("", f"the function behind {name} dies")
            self.handlers[name] = self.makers[name]()
            return True
        if polled.error is not None:
            raise polled.error
        return bool(polled.received)

    def _dues(self) -> list[int]:
        """When a sweep handles each task (epoch ms): later than the index says, by the Supervisor's own margin."""
        found = (getattr(task, "due", None) for task in self.store.every(None))
        return sorted(due + 5 * SECOND for due in found if due is not None)

    def _waiting(self) -> bool:
        """Whether any message is in flight or delayed."""
        names: Any = ["ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"]
        return any(
            int(count)
            for source in self.sources.values()
            for count in self.sqs.get_queue_attributes(QueueUrl=source.queue_url, AttributeNames=names)[
                "Attributes"
            ].values()
        )

    def _taken(self, queue: str) -> list[str]:
        bodies: list[str] = []
        source = SqsSource.at(self.sqs, self.stack.queues[queue])
        while received := source.receive(10):
            bodies += [message.body for message in received]
            for message in received:
                source.delete(message.handle)
        return bodies

    def _maker(self, queue: str, app: Any) -> Callable[[], Handler]:
        """What makes the function behind a queue, as a cold start does."""
        env = self.env
        known: dict[str, Callable[[], Handler]] = {
            "orders": partial(submission, app, env),
            "scheduler": partial(scheduler, env),
            "responses": partial(scheduler, env),
            "ledgers": partial(ledger, app, env),
            "order-events": partial(convoy, app, env),
        }
        own = {"STEPWARD_AGENT": queue.removeprefix("agent-"), "STEPWARD_REQUESTS_QUEUE": self.stack.queues[queue]}
        return known.get(queue) or partial(agent, app, env | own)


@pytest.fixture
def aws_engine(app: Application) -> Iterator[AwsEngine]:
    """The real handlers on moto, with the application of the fixture `app`: import it into your conftest."""
    with AwsEngine(app) as found:
        yield found
