"""The real functions on moto, fed by pollers in one process, with every call to AWS and every log line counted."""

import io
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from unittest.mock import patch

import boto3
import time_machine
from aws_lambda_powertools import Metrics
from moto import mock_aws
from time_machine import Traveller

import orders
from orders.messages import OrderSubmitted
from stepward.adapters.lambda_ import batch as batches
from stepward.domain.workflow.definition import Workflow
from stepward.testing.aws.stack import CREDENTIALS, Stack, environment
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.testing.sqs.poller import Polled, Poller
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.clock import now
from tests.lab.benchmarks.cost.billing import requests_of
from tests.lab.benchmarks.cost.meter import Meter, metered
from tests.lab.benchmarks.workload import AGENTS

SHARDS = 4
BEGINS = 1_800_000_000.123
BETWEEN = 1.1
"""Seconds between two runs of functions: longer than an agent caches its breaker, so that each run reads it."""
LINGER_S = 60
"""How long the messages of a batch wait for each other here: on a busy machine, too, a full batch shares its calls."""
LOG_OVERHEAD = 26
"""Bytes that CloudWatch adds to each event."""
FUNCTION = {"AWS_LAMBDA_FUNCTION_NAME": "stepward-Function", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}
QUEUES = {"orders": "submission", "scheduler": "scheduler", "responses": "scheduler"}
"""The function behind each queue of the engine."""

Handler = Callable[[Any, Any], Any]


class Crash(Exception):
    """A function dies in the middle of its work."""


@dataclass
class Cloud:
    """The deployed functions; `batch` is the batch size of all of them.

    `crashes` is how many of the next runs of agents die before they do anything. `metrics` holds each metric that was
    written, with its dimensions' values: CloudWatch bills it by the month.
    """

    stack: Stack
    workflow: Workflow
    batch: int
    meter: Meter
    time: Traveller
    crashes: int = 0

    def __post_init__(self) -> None:
        self.log, self.metrics = io.StringIO(), set[tuple[str, ...]]()
        handlers = {name: self._load(name) for name in ("submission", "scheduler")}
        self.pollers = {queue: self._poller(queue, name, handlers[name]) for queue, name in QUEUES.items()}
        for name in AGENTS:
            queue = f"agent-{name}"
            handler = self._load("agent", STEPWARD_AGENT=name, STEPWARD_REQUESTS_QUEUE=self.stack.queues[queue])
            self.pollers[queue] = self._poller(queue, "agent", handler)
        self.sweep = self._counted("supervisor", self._load("supervisor"))

    def send(self, bodies: Sequence[str]) -> None:
        """Submit orders as their sender would, in batches."""
        for body in bodies:
            boto3.client("sqs").send_message(QueueUrl=self.stack.queues["orders"], MessageBody=body)
        self.meter.bill.totals["sqs requests"] += -(-len(bodies) // self.batch)

    def run(self) -> None:
        """Feed every function until no queue has anything left to give."""
        while sum(map(self._poll, self.pollers.values())):
            pass

    def wait(self, seconds: float) -> None:
        self.time.shift(seconds)

    def supervise(self) -> None:
        self.sweep({}, LambdaContext("supervisor", "r-1", now() + 50_000, now))
        self._account_for_log()

    def _poll(self, poller: Poller) -> bool:
        busy = False
        while (polled := poller.poll()).received:
            busy = True
            self._count_polled(polled)
            self._account_for_log()
            self.wait(BETWEEN)
        return busy

    def _count_polled(self, polled: Polled) -> None:
        totals, bodies = self.meter.bill.totals, [*polled.done, *polled.stayed]
        requests = requests_of(sum(len(body.encode()) for body in bodies)) + bool(polled.done)
        totals["messages"] += len(bodies)
        totals["sqs requests"] += requests
        totals["sqs receives and deletes"] += requests

    def _account_for_log(self) -> None:
        for document in bill_log(self.log, self.meter):
            self.metrics |= _metrics_in(document)

    def _poller(self, queue: str, function: str, handler: Handler) -> Poller:
        source = SqsSource.at(boto3.client("sqs"), self.stack.queues[queue])
        counted = self._counted(function, handler)
        return Poller(source=source, handler=counted, clock=now, batch_size=self.batch)

    def _counted(self, function: str, handler: Handler) -> Handler:
        def run(event: Any, context: Any) -> Any:
            with self.meter.invocation(function), redirect_stdout(self.log):
                if function == "agent" and self.crashes:
                    self.crashes -= 1
                    raise Crash
                return handler(event, context)

        return run

    def _load(self, name: str, **own: str) -> Handler:
        """A function, wired under the environment that its own process would have."""
        function = getattr(import_module(f"stepward.wiring.{name}"), name)
        app = replace(orders.app, workflows=[replace(self.workflow, order=OrderSubmitted)], default=None)
        settings = {"STEPWARD_SHARDS": str(SHARDS), "POWERTOOLS_SERVICE_NAME": "stepward", **FUNCTION, **own}
        with environment(self.stack.env() | settings), redirect_stdout(self.log):
            wired = function() if name in {"scheduler", "supervisor"} else function(app)
            assert wired.worker
        handler: Handler = wired
        return handler


@contextmanager
def cloud(workflow: Workflow, batch: int) -> Iterator[Cloud]:
    """A deployment of `workflow` in which time moves only when the benchmark moves it."""
    lingering = patch.object(batches, "LINGER_S", LINGER_S)
    travelling = time_machine.travel(BEGINS, tick=False)
    with lingering, travelling as traveller, environment(CREDENTIALS), mock_aws(), metered() as meter:
        forget_loggers()
        yield Cloud(Stack.new(AGENTS, ["orders"]), workflow, batch, meter, traveller)
    forget_loggers()


def bill_log(log: io.StringIO, meter: Meter) -> Sequence[str]:
    """Bill and empty what functions have logged; the documents that hold metrics."""
    lines = log.getvalue().splitlines()
    log.truncate(log.seek(0))
    for text in lines:
        meter.bill.totals["metric bytes" if '"_aws"' in text else "log bytes"] += len(text.encode()) + LOG_OVERHEAD
    return [text for text in lines if '"_aws"' in text]


def _metrics_in(text: str) -> set[tuple[str, ...]]:
    document = json.loads(text)
    return {
        (*(document[name] for names in group["Dimensions"] for name in names), metric["Name"])
        for group in document["_aws"]["CloudWatchMetrics"]
        for metric in group["Metrics"]
    }


def forget_loggers() -> None:
    """Let the next logger write to the stream of its own time, and drop metrics that were not written yet."""
    logging.Logger.manager.loggerDict.pop("stepward", None)
    Metrics._metrics.clear()
