"""A deployment of a workflow on moto, driven by the repository's poller: every function, every queue, one process."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import boto3
import time_machine
from aws_lambda_powertools import Metrics
from moto import mock_aws
from time_machine import Traveller

import orders
from stepward.domain.workflow.definition import Workflow
from stepward.testing.aws.stack import CREDENTIALS, environment
from stepward.testing.sqs.poller import Polled, Poller
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.clock import now
from tests.integration.handlers.deployment import Deployment
from tests.lab.benchmarks.cost.billing import requests_of
from tests.lab.benchmarks.cost.meter import Meter, metered
from tests.lab.benchmarks.workload import AGENTS

SHARDS = 4
BEGINS = 1_800_000_000.123
BETWEEN = 1.1
"""Seconds between two runs of functions: longer than an agent remembers its breaker, so that each run reads it."""
LOG_OVERHEAD = 26
"""Bytes that CloudWatch adds to each event."""

Handler = Callable[[Any, Any], Any]


class Crash(Exception):
    """Stands for a function that dies in the middle."""


@dataclass(slots=True)
class Cloud:
    """The deployed functions; `batch` is the batch size of all of them."""

    deployment: Deployment
    workflow: Workflow
    batch: int
    meter: Meter
    time: Traveller
    log: io.StringIO = field(default_factory=io.StringIO)
    crashes: int = 0
    """How many of the next runs of agents die before they do anything."""
    pollers: dict[str, Poller] = field(default_factory=dict)
    metrics: set[tuple[str, ...]] = field(default_factory=set)
    """Each metric that was written, with its dimensions' values: what CloudWatch bills by the month."""
    sweep: Handler = field(init=False)

    def __post_init__(self) -> None:
        engine = {"orders": "submission", "scheduler": "scheduler", "responses": "scheduler"}
        scheduler = self._load("scheduler", {})
        handlers = {"submission": self._load("submission", {}), "scheduler": scheduler}
        for queue, function in engine.items():
            self._feed(queue, function, handlers[function])
        for name in AGENTS:
            own = {"STEPWARD_AGENT": name, "STEPWARD_REQUESTS_QUEUE": self.deployment.queues[f"agent-{name}"]}
            self._feed(f"agent-{name}", "agent", self._load("agent", own))
        self.sweep = self._counted("supervisor", self._load("supervisor", {}))

    def send(self, bodies: Sequence[str]) -> None:
        """Submit orders as their sender would, in batches."""
        for body in bodies:
            boto3.client("sqs").send_message(QueueUrl=self.deployment.queues["orders"], MessageBody=body)
        self.meter.bill.totals["sqs requests"] += -(-len(bodies) // self.batch)

    def run(self) -> None:
        """Feed every function until no queue has anything left to give."""
        while sum(map(self._poll, self.pollers.values())):
            pass

    def wait(self, seconds: float) -> None:
        """Let time pass for everybody."""
        self.time.shift(seconds)

    def supervise(self) -> None:
        """Wake the Supervisor once."""
        self.sweep({}, _Context())
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
        requests = requests_of(sum(len(body.encode()) for body in bodies))
        totals["messages"] += len(bodies)
        totals["sqs requests"] += requests + bool(polled.done)
        totals["sqs receives and deletes"] += requests + bool(polled.done)

    def _account_for_log(self) -> None:
        totals = self.meter.bill.totals
        for text in self.log.getvalue().splitlines():
            is_metric = '"_aws"' in text
            totals["metric bytes" if is_metric else "log bytes"] += len(text.encode()) + LOG_OVERHEAD
            if is_metric:
                self.metrics |= _metrics_in(text)
        self.log.truncate(self.log.seek(0))

    def _feed(self, queue: str, function: str, handler: Handler) -> None:
        source = SqsSource.at(boto3.client("sqs"), self.deployment.queues[queue])
        counted = self._counted(function, handler)
        self.pollers[queue] = Poller(source=source, handler=counted, clock=now, batch_size=self.batch)

    def _counted(self, function: str, handler: Handler) -> Handler:
        def run(event: Any, context: Any) -> Any:
            with self.meter.invocation(function), redirect_stdout(self.log):
                if function == "agent" and self.crashes:
                    self.crashes -= 1
                    raise Crash
                return handler(event, context)

        return run

    def _load(self, name: str, own: Mapping[str, str]) -> Handler:
        """The function as a process of its own has it, made under its own environment."""
        wired = getattr(import_module(f"stepward.wiring.{name}"), name)
        app = replace(orders.app, workflow=replace(self.workflow, order=orders.app.order))
        with environment({**self.deployment.env, **own}), redirect_stdout(self.log):
            handler = wired() if name in {"scheduler", "supervisor"} else wired(app)
            assert handler.worker
        made: Handler = handler
        return made


class _Context:
    def get_remaining_time_in_millis(self) -> int:
        return 50_000


@contextmanager
def cloud(workflow: Workflow, batch: int) -> Iterator[Cloud]:
    """A deployment of `workflow` in which time stands still unless it is moved."""
    with time_machine.travel(BEGINS, tick=False) as traveller, environment(CREDENTIALS), mock_aws(), metered() as meter:
        forget_loggers()
        yield Cloud(_deployed(), workflow, batch, meter, traveller)
    forget_loggers()


def _metrics_in(text: str) -> set[tuple[str, ...]]:
    document = json.loads(text)
    return {
        (*(document[name] for names in group["Dimensions"] for name in names), metric["Name"])
        for group in document["_aws"]["CloudWatchMetrics"]
        for metric in group["Metrics"]
    }


def _deployed() -> Deployment:
    deployment = Deployment.new()
    deployment.queues["orders"] = deployment.sqs.create_queue(QueueName="orders")["QueueUrl"]
    deployment.env.update(STEPWARD_SHARDS=str(SHARDS), POWERTOOLS_SERVICE_NAME="stepward")
    deployment.env.update(AWS_LAMBDA_FUNCTION_NAME="stepward-Function", AWS_LAMBDA_FUNCTION_MEMORY_SIZE="512")
    return deployment


def forget_loggers() -> None:
    """A logger keeps the stream that it was made with, and metrics what was not written yet."""
    logging.Logger.manager.loggerDict.pop("stepward", None)
    Metrics._metrics.clear()
