"""The real ledger and convoy functions on the local cloud, with every call that they make counted and billed."""

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import boto3

from stepward.cli.cost.billing import requests_of
from stepward.cli.cost.functions import FUNCTION, bill_log, forget_loggers
from stepward.cli.cost.meter import Meter
from stepward.cli.cost.priced import AGENTS
from stepward.local.cloud import local_cloud
from stepward.testing.aws.stack import CREDENTIALS, Stack, environment
from stepward.testing.sqs.lambda_events import LambdaContext, event_of
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.poller import Polled, Poller
from stepward.testing.sqs.source import SqsSource
from stepward.wiring.clock import now
from stepward.wiring.convoy import convoy
from stepward.wiring.ledger import ledger
from tests.lab.benchmarks.cost.meter import metered
from tests.lab.benchmarks.workload import adds, creates, ledgers
from tests.shop import app

CALLS = ("GetItem", "Query", "PutItem", "BatchWriteItem", "TransactWriteItems")
FEW = 100
LEDGERS = "arn:aws:sqs:us-east-1:000000000000:q.fifo"
Quantities = dict[str, float]


@dataclass(frozen=True, slots=True)
class Counted:
    """What one entry took on the way from its ledger into its lane, and how many went through in a second."""

    what: str
    orders: int
    batch: int
    entries: int
    split_per_s: float
    applied_per_s: float
    calls: Quantities
    billed: Quantities


@dataclass(slots=True)
class LaneCloud:
    """The ledger processor and one consumer, in this process; the tables and queues are the local cloud's."""

    stack: Stack
    meter: Meter
    log: io.StringIO
    split: Any = field(init=False)
    lanes: Any = field(init=False)

    def __post_init__(self) -> None:
        with environment(self.stack.env() | FUNCTION):
            self.split, self.lanes = ledger(app).worker, convoy(app).worker

    def through(self, what: str, orders: int, batch: int, entries: Sequence[dict[str, Any]]) -> Counted:
        """Split ledgers of the entries and apply them; returns what each entry took."""
        self.meter.reset()
        self.log.truncate(self.log.seek(0))
        begun = perf_counter()
        for number, text in enumerate(ledgers(f"{what}-{orders}-{batch}", entries)):
            event = event_of([Received(f"m-{number}", "r", text, {"MessageGroupId": "customer-7"})], LEDGERS)
            with self.meter.invocation("ledger"):
                self.split.answer(event, lambda: 60_000)
            self.meter.bill.totals["fifo requests"] += requests_of(len(text)) + 1
        split = perf_counter()
        source = SqsSource.at(boto3.client("sqs"), self.stack.queues["order-events"])
        poller = Poller(source=source, handler=self._apply, clock=now, batch_size=batch)
        applied = sum(map(self._count, poller.drain(most_polls=1_000_000)))
        if applied != len(entries):
            raise RuntimeError(f"{applied} of {len(entries)} entries were applied")
        splitting, applying = split - begun, perf_counter() - split
        bill_log(self.log, self.meter)
        operations = [operation for _, operation in self.meter.calls]
        calls = {name: operations.count(name) / applied for name in CALLS if name in operations}
        billed = {name: total / applied for name, total in sorted(self.meter.bill.totals.items())}
        return Counted(what, orders, batch, applied, applied / splitting, applied / applying, calls, billed)

    def _apply(self, event: dict[str, Any], context: LambdaContext) -> Any:
        with self.meter.invocation("convoy"):
            return self.lanes.answer(event, context.get_remaining_time_in_millis)

    def _count(self, polled: Polled) -> int:
        """Bill Lambda's requests to the queue: a batch is received by one and deleted by one."""
        self.meter.bill.totals["messages"] += polled.received
        self.meter.bill.totals["fifo requests"] += requests_of(sum(len(body) for body in polled.done)) + 1
        return len(polled.done)


def counted(orders: int, batch: int, entries: int) -> list[Counted]:
    """What creates take, and adds to that many orders, in a deployment of their own.

    The first create writes the plan, once per deployment; that would distort the average of a few.
    """
    with lane_cloud() as cloud:
        made = cloud.through("create", orders, batch, creates(orders))
        added = cloud.through("add", orders, batch, adds(orders, entries))
        return [made, added] if orders >= FEW else [added]


@contextmanager
def lane_cloud() -> Iterator[LaneCloud]:
    """A local cloud of its own with the convoy's tables and queues."""
    forget_loggers()
    with ExitStack() as undo:
        folder = Path(undo.enter_context(TemporaryDirectory()))
        server = undo.enter_context(local_cloud(log=folder / "cloud.log"))
        undo.enter_context(environment(CREDENTIALS | {"AWS_ENDPOINT_URL": server.endpoint}))
        meter, log = undo.enter_context(metered()), undo.enter_context(redirect_stdout(io.StringIO()))
        yield LaneCloud(Stack.new(AGENTS), meter, log)
    forget_loggers()
