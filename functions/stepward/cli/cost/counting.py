"""Runs orders through the functions, in memory and on the real adapters, and counts what AWS bills for one of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any, cast

from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.lambda_.sweep import SweepWorker
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.queues import SqsQueues
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.assembly import Assembly
from stepward.app.intake import Intake
from stepward.cli.cost.billing import Bill
from stepward.cli.cost.estimate import Quantities
from stepward.cli.cost.functions import FUNCTION, QUEUES, TELEMETRY, Functions, Handler, forget_loggers
from stepward.cli.cost.item_size import INDEX_OVERHEAD, size_of
from stepward.cli.cost.meter import Meter
from stepward.cli.cost.pretend import Queues, Tables
from stepward.cli.cost.priced import Priced, order_id
from stepward.testing.aws.stack import environment
from stepward.testing.memory.queues import MemoryAlerts
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.settings import Settings
from stepward.testing.sqs.queue import MemoryQueue
from stepward.wiring.clock import new_id
from stepward.wiring.parts import shared_records_of
from stepward.wiring.tasks import task_store

BEGINS = 1_800_000_000_123
SHARDS = 4
WARM_UP = 999
"""The number of an order that is not counted: it writes the plan, which is written once for each deployment."""
COUNTED = (
    "write units",
    "read units",
    "sqs requests",
    "fair requests",
    "messages",
    "invocations",
    "invocations of agent",
    "reads waited for",
    "writes waited for",
    "transactions waited for",
    "sends waited for",
    "log bytes",
    "metric bytes",
    "stored bytes",
)


@dataclass
class Pretended(Functions):
    """The functions in memory: the real adapters, on tables and queues that only pretend."""

    app: Priced
    at: int = BEGINS

    def __post_init__(self) -> None:
        self.access = Tables(self.meter).access()
        self.tasks = task_store(self.access, orders="orders", tasks="tasks", shards=SHARDS)
        agents = {agent: f"agent-{agent}" for agent, _ in self.app.plan.operations()}
        self.queues = {name: MemoryQueue(name=name, clock=self.clock) for name in (*QUEUES, *agents.values())}
        self.telemetry, client = PowertoolsTelemetry(), cast("Any", Queues(self.meter, self.queues))
        self.outbox = Outbox(SqsQueues(client, "scheduler", "responses", agents))
        made = self._assembly()
        schedule = made.scheduler(f"scheduler-{new_id()}")
        intakes = {"orders": made.intake(made.submission(f"submission-{new_id()}").handle)}
        intakes |= dict.fromkeys(("scheduler", "responses"), made.intake(schedule.handle, schedule.take))
        intakes |= {queue: made.intake(made.agent(agent).handle) for agent, queue in agents.items()}
        for queue, intake in intakes.items():
            self.pollers[queue] = self.fed(self.queues[queue], QUEUES.get(queue, "agent"), self._answering(intake))
        supervise = replace(made, queues=self.outbox.queues).supervisor(f"supervisor-{new_id()}", agents)
        worker = SweepWorker(supervise, self.telemetry)
        self.sweep = self.counted("supervisor", lambda event, _: worker.answer(event, lambda: 50_000))

    def _assembly(self) -> Assembly:
        return Assembly(
            settings=Settings(shards=SHARDS, most_shards=SHARDS),
            telemetry=self.telemetry,
            now=self.clock,
            new_id=new_id,
            app=self.app.staged,
            store=self.tasks,
            queues=self.outbox,
            rejects=MemoryRejects(),
            shared_records=shared_records_of(self.access, "shared"),
            alerts=MemoryAlerts(),
            sleep=self.wait,
            jitter=lambda: 0.5,
            callback_keys=lambda: [b"a key of nobody's"],
        )

    def _answering(self, intake: Intake) -> Handler:
        worker = BatchWorker(intake, self.telemetry, outbox=self.outbox)
        return lambda event, context: worker.answer(event, context.get_remaining_time_in_millis)

    @property
    def clock(self) -> Callable[[], int]:
        """Gives the time, which moves only when somebody waits."""
        return lambda: self.at

    @property
    def store(self) -> DynamoTaskStore:
        """The state store."""
        return self.tasks

    def put(self, queue: str, body: str) -> None:
        """Put a message into a queue."""
        self.queues[queue].send(body)

    def wait(self, seconds: float) -> None:
        """Move the time."""
        self.at += round(seconds * 1000)


@contextmanager
def pretended(app: Priced, batch: int) -> Iterator[Pretended]:
    """A deployment in memory."""
    forget_loggers()
    log = io.StringIO()
    with environment(FUNCTION | TELEMETRY), redirect_stdout(log):
        yield Pretended(batch, Meter(), log, app)
    forget_loggers()


def count(app: Priced, batch: int) -> Quantities:
    """What one order takes if nothing goes wrong and batches are full, counted in memory."""
    with pretended(app, batch) as functions:
        return counted(functions, app)


def count_queues(app: Priced, batch: int) -> tuple[Quantities, Mapping[str, Quantities]]:
    """The same, with the part of it that the runs behind each queue take."""
    with pretended(app, batch) as functions:
        whole = counted(functions, app)
        parts = {queue: {name: each / batch for name, each in took.items()} for queue, took in functions.spent.items()}
        return whole, {queue: took for queue, took in parts.items() if took.get("messages")}


def counted(functions: Functions, app: Priced) -> Quantities:
    """What one order takes under these functions; sweeps are left out that a deployment makes anyhow."""
    warm_up(functions, app)
    functions.supervise()
    idle = dict(functions.meter.bill.totals)
    functions.meter.reset()
    functions.spent.clear()
    functions.send([app.text(number) for number in range(1, functions.batch + 1)])
    app.complete(functions)
    totals = functions.meter.bill.totals
    sweeps = totals["invocations of supervisor"]
    found = {name: totals[name] - idle.get(name, 0) * sweeps for name in COUNTED}
    return per_order({**found, "stored bytes": _stored(functions.meter.bill)}, functions.batch)


def warm_up(functions: Functions, app: Priced) -> None:
    """Run an order that is not counted, and a sweep; the counts begin at zero again."""
    functions.send([app.text(WARM_UP)])
    app.complete(functions)
    functions.supervise()
    functions.meter.reset()


def _stored(bill: Bill) -> float:
    own = [item for (_, key), item in bill.items.items() if order_id(0)[:-12] in key and order_id(WARM_UP) not in key]
    return sum(size_of(row) + INDEX_OVERHEAD for row in own)


def per_order(totals: Mapping[str, float], orders: int) -> Quantities:
    """What one of so many orders takes."""
    return {name: round(totals.get(name, 0) / orders, 3) for name in COUNTED}
