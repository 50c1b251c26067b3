"""Eight racers on the local cloud, each with clients of its own, started at one moment in every round."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import TypeVar

import boto3
import pytest

from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.memory.queue import MemoryQueue
from stepward.adapters.memory.queues import MemoryAlerts, MemoryQueues
from stepward.adapters.memory.telemetry import MemoryTelemetry
from stepward.app.transition import Transition
from stepward.local.access import Access
from tests.contract.store_worlds import TIMING, DynamoWorld

RACERS = 8
ROUNDS = int(os.environ.get("RACE_ROUNDS", "100"))

T = TypeVar("T")


@dataclass(frozen=True)
class Race:
    """Runs the same round again and again; `stores` are the racers' own views of one state store."""

    world: DynamoWorld
    stores: Sequence[DynamoTaskStore]
    threads: ThreadPoolExecutor
    rounds: Sequence[str] = field(default_factory=lambda: [f"ord-{number}" for number in range(ROUNDS)])

    def run(self, racers: Sequence[Callable[[], T]]) -> list[T]:
        """Start all racers at once; what each came back with."""
        together = Barrier(len(racers), timeout=60)

        def started(racer: Callable[[], T]) -> T:
            together.wait()
            return racer()

        return list(self.threads.map(started, racers))

    def transition(self, racer: int, now: int, role: str = "scheduler") -> Transition:
        """The write path of one racer, whose clock stands at `now`."""
        agents = {name: _queue(name) for name in ("inventory", "payments", "shipping")}
        return Transition(
            store=self.stores[racer],
            queues=MemoryQueues(_queue("scheduler"), _queue("responses"), agents),
            alerts=MemoryAlerts(),
            telemetry=MemoryTelemetry(),
            timing=TIMING,
            instance=f"{role}-{racer}",
            now=lambda: now,
        )


def _queue(name: str) -> MemoryQueue:
    return MemoryQueue(name=name, clock=lambda: 0)


@pytest.fixture(scope="module")
def race(cloud_access: Access) -> Iterator[Race]:
    world = DynamoWorld.new(boto3.client("dynamodb", **cloud_access), cloud_access["endpoint_url"])
    with ThreadPoolExecutor(RACERS) as threads:
        yield Race(world, [world.another_store() for _ in range(RACERS)], threads)
