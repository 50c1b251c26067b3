"""How fast the engine is: the real use cases and batch handling over the memory twins, in one process."""

from __future__ import annotations

import io
import logging
import random
import statistics
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter, process_time, sleep  # noqa: TID251 - a benchmark measures the real time
from typing import Any

from aws_lambda_powertools import Logger, Metrics

from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.assembly import Assembly
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
from tests.lab.benchmarks.workload import AGENTS, line, order_id, order_text

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


@dataclass(slots=True)
class Engine:
    """Every function of a deployment in one process; `batch` is the batch size of all of them."""

    workflow: Workflow
    batch: int = 10
    logged: bool = False
    sent: dict[str, float] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    store: WatchedStore = field(init=False)
    orders: MemoryQueue = field(init=False)
    pollers: list[Poller] = field(init=False)
    telemetry: Any = field(init=False)
    assembly: Assembly = field(init=False)

    def __post_init__(self) -> None:
        real = PowertoolsTelemetry(Logger(service="benchmark"), Metrics(namespace="Benchmark", service="benchmark"))
        self.telemetry = real if self.logged else MemoryLog()
        self.store = WatchedStore(lambda _: 0, ended=self._end)
        self.orders = MemoryQueue(name="orders", clock=now)
        self.assembly = memory_assembly(
            now,
            AGENTS,
            telemetry=self.telemetry,
            app=App("benchmark", self.workflow),
            store=self.store,
            sleep=sleep,
            jitter=random.random,
        )
        queues, schedule = queues_of(self.assembly), self.assembly.scheduler("scheduler-1").handle
        self.pollers = [
            self._poller(self.orders, self.assembly.submission().handle),
            self._poller(queues.scheduler, schedule),
            self._poller(queues.responses, schedule),
        ]
        for name, queue in queues.agents.items():
            self.pollers.append(self._poller(queue, self.assembly.agent(name).handle, together=True))

    def send(self, number: int) -> None:
        self.sent[order_id(number)] = perf_counter()
        self.orders.send(order_text(number))

    def turn(self) -> None:
        """Give every function one batch."""
        for poller in self.pollers:
            poller.poll()

    def _end(self, order: str) -> None:
        self.took.append((perf_counter() - self.sent.pop(order)) * 1000)

    def _poller(self, queue: MemoryQueue, handle: Callable[[str], None], *, together: bool = False) -> Poller:
        worker = BatchWorker(self.assembly.intake(handle), self.telemetry, together)

        def handler(event: dict[str, Any], _context: object) -> Mapping[str, Any]:
            return worker.answer(event)

        return Poller(source=queue, handler=handler, clock=now, batch_size=self.batch)


def queues_of(assembly: Assembly) -> MemoryQueues:
    """The queues of an assembly in memory."""
    queues = assembly.queues
    assert isinstance(queues, MemoryQueues)
    return queues


def measure(concurrency: int, orders: int, *, workflow: Workflow | None = None, logged: bool = False) -> Speed:
    """Keep `concurrency` orders under way until `orders` of them have ended."""
    with redirect_stdout(Nowhere()):
        # A logger writes to the stream that it was made with.
        logging.Logger.manager.loggerDict.pop("benchmark", None)
        engine = Engine(workflow or line(3), logged=logged)
        _drive(engine, WARM_UP, concurrency, count(1_000_000))
        engine.took.clear()
        began, computed = perf_counter(), process_time()
        _drive(engine, orders, concurrency, count(1))
        lasted, computed = perf_counter() - began, process_time() - computed
    took = sorted(engine.took)
    centiles = statistics.quantiles(took, n=100)
    name = "stepward, logs written" if logged else "stepward"
    per_order = computed * 1000 / len(took)
    return Speed(name, concurrency, len(took), len(took) / lasted, statistics.median(took), centiles[98], per_order)


def _drive(engine: Engine, orders: int, concurrency: int, numbers: count[int]) -> None:
    sent = 0
    while sent < orders or engine.sent:
        while sent < orders and len(engine.sent) < concurrency:
            engine.send(next(numbers))
            sent += 1
        engine.turn()
