"""The convoy over the memory twins: its speed, and what a hot order does to the others."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Any

from stepward.adapters.lambda_.groups import GroupWorker
from stepward.cli.cost.priced import AGENTS, order_id
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLanes
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.lambda_events import LambdaContext, event_of
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.poller import Poller
from stepward.wiring.clock import now
from tests.lab.benchmarks.engine import MemoryLog
from tests.lab.benchmarks.workload import adds, creates, ledgers, line
from tests.sample import ShopOrder
from tests.shop import app as shop
from tests.unit.engine.world import Clock

CONSUMERS = 8
BATCH_MS = 60
"""How long a batch takes in virtual time, calls to AWS included."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How many entries a second the ledger processor split and the convoy applied, in one process."""

    orders: int
    batch: int
    entries: int
    split_per_s: float
    applied_per_s: float


@dataclass(frozen=True, slots=True)
class Beside:
    """When the events of ordinary orders were applied (virtual ms), beside a hot order of `hot` events."""

    hot: int
    orders: int
    events: int
    first_ms: int
    median_ms: int
    last_ms: int
    hot_ms: int


class LaneTwins:
    """The ledger processor and the convoy's worker over the memory twins."""

    def __init__(self, clock: Callable[[], int] = now) -> None:
        log: Any = MemoryLog()
        self.lanes = MemoryLanes()
        self.queue = MemoryFifoQueue(name="order-events.fifo", clock=clock, deduplication_per_group=True)
        app = replace(shop, workflows=[replace(line(3), order=ShopOrder)], default=None)
        own = {"app": app, "telemetry": log, "lanes": self.lanes, "lane_queue": MemoryLaneQueue(self.queue)}
        assembly = memory_assembly(clock, AGENTS, **own)
        self.split = assembly.ledger()
        self.worker = GroupWorker(assembly.convoy("convoy-1").take, log, together=True)

    def send(self, name: str, entries: Sequence[dict[str, Any]]) -> None:
        for text in ledgers(name, entries):
            self.split.handle(text, lambda: 60_000)

    def apply(self, event: dict[str, Any], context: LambdaContext) -> Any:
        return self.worker.answer(event, context.get_remaining_time_in_millis)


def pace(orders: int, batch: int, entries: int) -> Pace:
    """Apply `entries` adds to `orders` orders, whose creates are not counted."""
    twins = LaneTwins()
    poller = Poller(source=twins.queue, handler=twins.apply, clock=now, batch_size=batch)
    _through(twins, poller, "creates", creates(orders))
    splitting, applying = _through(twins, poller, "adds", adds(orders, entries))
    applied = sum(lane.last for lane in twins.lanes.lanes.values())
    if applied != orders + entries:
        raise RuntimeError(f"{applied} of {orders + entries} events were applied")
    return Pace(orders, batch, entries, entries / splitting, entries / applying)


def _through(twins: LaneTwins, poller: Poller, name: str, entries: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Seconds to split the entries, and to apply them: one ledger after the other, so that few wait at once."""
    splitting = applying = 0.0
    for text in ledgers(name, entries):
        begun = perf_counter()
        twins.split.handle(text, lambda: 60_000)
        split = perf_counter()
        poller.drain(most_polls=1_000_000)
        splitting, applying = splitting + split - begun, applying + perf_counter() - split
    return splitting, applying


def beside(hot: int, orders: int = 100, events: int = 10, batch: int = 10) -> Beside:
    """Send a hot order's events, then those of the others; CONSUMERS take batches side by side, in virtual time."""
    time = Clock()
    begun, twins = time.now, LaneTwins(time)
    hot_id = order_id(orders)
    hot_events = [{**add, "orderId": hot_id} for add in adds(1, max(0, hot - 1))]
    others = [*creates(orders), *adds(orders, orders * (events - 1))]
    twins.send("hot", [{**creates(1)[0], "orderId": hot_id}, *hot_events] if hot else [])
    twins.send("others", others)
    ended = _consumed(twins, time, batch)
    ordinary = sorted(at - begun for order, at in ended if order != hot_id)
    last_hot = max((at - begun for order, at in ended if order == hot_id), default=0)
    return Beside(hot, orders, events, ordinary[0], ordinary[len(ordinary) // 2], ordinary[-1], last_hot)


def _consumed(twins: LaneTwins, time: Clock, batch: int) -> list[tuple[str, int]]:
    """When each event was applied, with its order: each free consumer takes one batch and is busy with it."""
    ended: list[tuple[str, int]] = []
    under_way: list[tuple[int, int, list[Received]]] = []
    turns = count()
    while True:
        while len(under_way) < CONSUMERS and (taken := twins.queue.receive(batch)):
            heappush(under_way, (time.now + BATCH_MS, next(turns), list(taken)))
        if not under_way:
            return ended
        time.now, _, messages = heappop(under_way)
        context = LambdaContext("convoy", "r-1", time.now + 10_000, time)
        answer = twins.apply(event_of(messages, twins.queue.arn), context)
        if answer["batchItemFailures"]:
            raise RuntimeError(f"{answer} came back")
        for message in messages:
            twins.queue.delete(message.handle)
            ended.append((json.loads(message.body)["orderId"], time.now))
