"""The real functions on moto, fed by pollers in one process, with every call to AWS and every log line counted."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

import boto3
import time_machine
from moto import mock_aws
from time_machine import Traveller

from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.lambda_ import batch as batches
from stepward.cli.cost.functions import FUNCTION, QUEUES, TELEMETRY, Functions, Handler, forget_loggers
from stepward.cli.cost.priced import AGENTS, Priced
from stepward.testing.application import Staged
from stepward.testing.aws.stack import CREDENTIALS, REGION, Stack, environment
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.clock import now
from stepward.wiring.tasks import task_store
from tests.lab.benchmarks.cost.meter import metered

SHARDS = 4
BEGINS = 1_800_000_000.123
LINGER_S = 60
"""How long the messages of a batch wait for each other here: on a busy machine, too, a full batch shares its calls."""


class Crash(Exception):
    """A function dies in the middle of its work."""


@dataclass
class Cloud(Functions):
    """The deployed functions; `crashes` is how many of the next runs of agents die before they do anything."""

    stack: Stack
    app: Staged
    time: Traveller
    crashes: int = 0

    def __post_init__(self) -> None:
        handlers = {name: self._load(name) for name in ("submission", "scheduler")}
        self.pollers = {queue: self._poller(queue, name, handlers[name]) for queue, name in QUEUES.items()}
        for name in AGENTS:
            queue = f"agent-{name}"
            handler = self._load("agent", STEPWARD_AGENT=name, STEPWARD_REQUESTS_QUEUE=self.stack.queues[queue])
            self.pollers[queue] = self._poller(queue, "agent", self._crashing(handler))
        self.sweep = self.counted("supervisor", self._load("supervisor"))

    @property
    def clock(self) -> Callable[[], int]:
        return now

    @property
    def store(self) -> DynamoTaskStore:
        names = self.stack.tables
        return task_store(Access(REGION), orders=names["orders"], tasks=names["tasks"], shards=SHARDS)

    def put(self, queue: str, body: str) -> None:
        boto3.client("sqs").send_message(QueueUrl=self.stack.queues[queue], MessageBody=body)

    def wait(self, seconds: float) -> None:
        self.time.shift(seconds)

    def _poller(self, queue: str, function: str, handler: Handler) -> Poller:
        return self.fed(SqsSource.at(boto3.client("sqs"), self.stack.queues[queue]), function, handler)

    def _crashing(self, handler: Handler) -> Handler:
        def run(event: Any, context: Any) -> Any:
            if self.crashes:
                self.crashes -= 1
                raise Crash
            return handler(event, context)

        return run

    def _load(self, name: str, **own: str) -> Handler:
        """A function, wired under the environment that its own process would have."""
        function = getattr(import_module(f"stepward.wiring.{name}"), name)
        settings = self.stack.env() | FUNCTION | TELEMETRY | {"STEPWARD_SHARDS": str(SHARDS), **self._secret(), **own}
        with environment(settings), redirect_stdout(self.log):
            wired = function() if name in {"scheduler", "supervisor"} else function(self.app)
            assert wired.worker
        handler: Handler = wired
        return handler

    def _secret(self) -> dict[str, str]:
        """The key of callback tokens, which a deployment has whose steps are answered later."""
        if not any(step.answer_within for plan in self.app.plans().values() for step in plan.steps):
            return {}
        secrets = boto3.client("secretsmanager")
        if not secrets.list_secrets()["SecretList"]:
            secrets.create_secret(Name="callbacks", SecretString="a key of this benchmark " * 2)
        return {"STEPWARD_CALLBACK_SECRET": "callbacks"}


@contextmanager
def cloud(app: Priced, batch: int) -> Iterator[Cloud]:
    """A deployment for these orders, in which time moves only when the benchmark moves it."""
    lingering = patch.object(batches, "LINGER_S", LINGER_S)
    travelling, own = time_machine.travel(BEGINS, tick=False), CREDENTIALS | {"AWS_REGION": REGION}
    with (
        lingering,
        travelling as traveller,
        environment(own),
        mock_aws(),
        metered() as meter,
    ):
        forget_loggers()
        yield Cloud(batch, meter, io.StringIO(), Stack.new(AGENTS, ["orders"]), app.staged, traveller)
    forget_loggers()
