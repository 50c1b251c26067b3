"""Functions behind their queues, fed by pollers in one process, with every call, run and log line counted."""

from __future__ import annotations

import io
import json
import logging
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools import Metrics

from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.cli.cost.billing import requests_of
from stepward.cli.cost.meter import Meter
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.testing.sqs.poller import Polled, Poller, Source

LOG_OVERHEAD = 26
"""Bytes that CloudWatch adds to each event."""
BETWEEN = 1.1
"""Seconds between two runs of functions: longer than an agent caches its breaker, so that each run reads it."""
SERVICE = "stepward"
FUNCTION = {"AWS_LAMBDA_FUNCTION_NAME": "stepward-Function", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}
"""What Lambda tells a function."""
TELEMETRY = {
    "POWERTOOLS_SERVICE_NAME": SERVICE,
    "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}
QUEUES = {"orders": "submission", "scheduler": "scheduler", "responses": "scheduler"}
"""The function behind each queue of the engine."""

Handler = Callable[[Any, Any], Any]


@dataclass
class Functions(ABC):
    """The functions of a deployment; `batch` is the batch size of all of them.

    `metrics` holds each metric that was written, with its dimensions' values: CloudWatch bills it by the month.
    `spent` is what the runs behind each queue took.
    """

    batch: int
    meter: Meter
    log: io.StringIO
    metrics: set[tuple[str, ...]] = field(default_factory=set, init=False)
    pollers: dict[str, Poller] = field(default_factory=dict, init=False)
    spent: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter), init=False)
    sweep: Handler = field(init=False)

    @property
    @abstractmethod
    def clock(self) -> Callable[[], int]:
        """Gives epoch milliseconds."""

    @property
    @abstractmethod
    def store(self) -> DynamoTaskStore:
        """The state store, which nobody is billed for unless a function uses it."""

    @abstractmethod
    def put(self, queue: str, body: str) -> None:
        """Put a message into a queue; nobody is billed for it."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Let time pass."""

    def send(self, bodies: Sequence[str], queue: str = "orders") -> None:
        """Send messages as their sender would, in batches."""
        for body in bodies:
            self.put(queue, body)
        self.meter.bill.totals["sqs requests"] += -(-len(bodies) // self.batch)

    def run(self) -> None:
        """Feed every function until no queue has anything left to give."""
        while sum([self._poll(queue) for queue in self.pollers]):
            pass

    def supervise(self) -> None:
        """Have the Supervisor sweep once."""
        self.sweep({}, LambdaContext("supervisor", "r-1", self.clock() + 50_000, self.clock))
        self._account_for_log()

    def fed(self, source: Source, function: str, handler: Handler) -> Poller:
        """What feeds a function from a queue."""
        return Poller(source=source, handler=self.counted(function, handler), clock=self.clock, batch_size=self.batch)

    def counted(self, function: str, handler: Handler) -> Handler:
        """The function, with each run counted."""

        def run(event: Any, context: Any) -> Any:
            with self.meter.invocation(function), redirect_stdout(self.log):
                return handler(event, context)

        return run

    def _poll(self, queue: str) -> bool:
        totals, busy = self.meter.bill.totals, False
        before = dict(totals)
        while (polled := self.pollers[queue].poll()).received:
            busy = True
            self._count_polled(polled)
            self._account_for_log()
            self.wait(BETWEEN)
        self.spent[queue].update({name: totals[name] - before.get(name, 0) for name in totals})
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


def bill_log(log: io.StringIO, meter: Meter) -> Sequence[str]:
    """Bill and empty what functions have logged; the documents that hold metrics."""
    lines = log.getvalue().splitlines()
    log.truncate(log.seek(0))
    for text in lines:
        meter.bill.totals["metric bytes" if '"_aws"' in text else "log bytes"] += len(text.encode()) + LOG_OVERHEAD
    return [text for text in lines if '"_aws"' in text]


def _metrics_in(text: str) -> set[tuple[str, ...]]:
    document: Mapping[str, Any] = json.loads(text)
    return {
        (*(document[name] for names in group["Dimensions"] for name in names), metric["Name"])
        for group in document["_aws"]["CloudWatchMetrics"]
        for metric in group["Metrics"]
    }


def forget_loggers() -> None:
    """Let the next logger write to the stream of its own time, and drop metrics that were not written yet."""
    logging.Logger.manager.loggerDict.pop(SERVICE, None)
    Metrics._metrics.clear()  # noqa: SLF001 - Powertools shares them among all its objects
