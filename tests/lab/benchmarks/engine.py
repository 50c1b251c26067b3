"""How fast the engine is: the real use cases and batch handling over the memory twins, in one process."""

import io
import logging
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import count, product
from time import perf_counter, process_time, sleep  # noqa: TID251 - a benchmark measures the real time
from typing import Any

from aws_lambda_powertools import Logger, Metrics

from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.cli.cost.priced import AGENTS, order_id, order_text
from stepward.domain.health import Health
from stepward.domain.history import HistoryEntry
from stepward.domain.task.record import Task
from stepward.domain.workflow.application import App
from stepward.domain.workflow.definition import Workflow
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.queues import MemoryQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.queue import MemoryQueue
from stepward.wiring.clock import now
from tests.lab.benchmarks.workload import line
from tests.lab.results import Progress, Result, table

WARM_UP = 50


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast orders went through; times in milliseconds, from sending an order to its end."""

    name: str
    concurrency: int
    orders: int
    orders_per_s: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    """Computing per order: unlike the others, it hardly depends on what else the machine does."""


class Nowhere(io.TextIOBase):
    """A stream for logs, as Lambda has one, that stores nothing."""

    def write(self, text: str) -> int:
        return len(text)


@dataclass(slots=True)
class MemoryLog(MemoryTelemetry):
    """The twin of logs and metrics, which stores only the newest entry of each kind."""

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        self.history[:] = [(order_id, entry)]

    def health(self, health: Health) -> None:
        self.health_reports[:] = [health]

    def came_back(self, messages: Mapping[str, int]) -> None:
        """Nothing does."""

    def returned(self, message_id: str, error: Exception) -> None:
        """Raise RuntimeError: a message that returns to its queue would spoil the figures."""
        raise RuntimeError(f"{message_id} goes back to its queue") from error

    def flush(self) -> None:
        """Do nothing: no metric waits to be written."""


@dataclass(slots=True)
class WatchedStore(MemoryTaskStore):
    """The twin, which reports each task that has ended."""

    ended: Callable[[str], None] = print

    def save(self, task: Task, *, replaces: Task) -> bool:
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        if saved and task.due is None:
            self.ended(task.order_id)
        return saved


class Engine:
    """Every function of a deployment in one process, in batches of ten."""

    def __init__(self, workflow: Workflow, *, logged: bool) -> None:
        real = PowertoolsTelemetry(Logger(service="benchmark"), Metrics(namespace="Benchmark", service="benchmark"))
        self.telemetry: Any = real if logged else MemoryLog()
        self.sent: dict[str, float] = {}
        self.took: list[float] = []
        self.orders, queues = MemoryQueue(name="orders", clock=now), MemoryQueues.new(now, AGENTS)
        store = WatchedStore(lambda _: 0, ended=self._end)
        ports = {"app": App("benchmark", [workflow]), "telemetry": self.telemetry, "store": store, "queues": queues}
        self.assembly = memory_assembly(now, AGENTS, sleep=sleep, jitter=random.random, **ports)
        schedule, intake = self.assembly.scheduler("scheduler-1"), self.assembly.intake
        scheduler = intake(schedule.handle, schedule.take)
        self.pollers = [
            self._poller(self.orders, intake(self.assembly.submission("submission-1").handle)),
            self._poller(queues.scheduler, scheduler),
            self._poller(queues.responses, scheduler),
        ]
        for name, queue in queues.agents.items():
            self.pollers.append(self._poller(queue, intake(self.assembly.agent(name).handle), together=True))

    def drive(self, orders: int, concurrency: int, numbers: Iterator[int]) -> None:
        """Keep `concurrency` orders under way until `orders` of them have ended."""
        sent = 0
        while sent < orders or self.sent:
            while sent < orders and len(self.sent) < concurrency:
                number, sent = next(numbers), sent + 1
                self.sent[order_id(number)] = perf_counter()
                self.orders.send(order_text(number))
            for poller in self.pollers:
                poller.poll()

    def _end(self, order: str) -> None:
        self.took.append((perf_counter() - self.sent.pop(order)) * 1000)

    def _poller(self, queue: MemoryQueue, intake: Intake, *, together: bool = False) -> Poller:
        worker = BatchWorker(intake, self.telemetry, together)
        return Poller(
            source=queue,
            handler=lambda event, context: worker.answer(event, context.get_remaining_time_in_millis),
            clock=now,
        )


def speed(concurrency: int, orders: int, *, workflow: Workflow | None = None, logged: bool = False) -> Speed:
    """Keep `concurrency` orders under way until `orders` of them have ended."""
    with redirect_stdout(Nowhere()):
        # A logger writes to the stream that it was made with.
        logging.Logger.manager.loggerDict.pop("benchmark", None)
        engine = Engine(workflow or line(3), logged=logged)
        engine.drive(WARM_UP, concurrency, count(1_000_000))
        engine.took.clear()
        began, computed = perf_counter(), process_time()
        engine.drive(orders, concurrency, count(1))
        lasted, computed = perf_counter() - began, process_time() - computed
    took = sorted(engine.took)
    centiles = statistics.quantiles(took, n=100)
    name = "stepward, logs written" if logged else "stepward"
    per_order = computed * 1000 / len(took)
    return Speed(name, concurrency, len(took), len(took) / lasted, statistics.median(took), centiles[98], per_order)


def measure(progress: Progress) -> Result:
    found = []
    for logged, (concurrency, orders) in product((False, True), ((1, 500), (50, 3000))):
        progress(f"running {orders} orders, {concurrency} at once")
        found.append(speed(concurrency, orders, logged=logged))
    columns = ("", "at once", "orders", "orders/s", "p50 ms", "p99 ms", "CPU ms")
    rows = [
        [it.name, it.concurrency, it.orders]
        + [f"{figure:,.2f}" for figure in (it.orders_per_s, it.p50_ms, it.p99_ms, it.cpu_ms)]
        for it in found
    ]
    return found, [table("Engine, memory twins, one process", *columns, rows=rows, boxed=False)]
