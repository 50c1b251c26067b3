"""The engine in memory: an assembly on twins of every port."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from stepward.app.assembly import Assembly
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLanes, MemoryLedgers
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.settings import Settings
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.queue import MemoryQueue

_ids = count(1)
"""No two assemblies have the same: they may stand for instances of one deployment."""


def memory_assembly(now: Callable[[], int], agents: Iterable[str] = (), **ports: Any) -> Assembly:
    """An assembly whose agents have these names; `ports` are those that are not the usual twins.

    Whoever needs the application, the notices or the waits of an agent gives them, too.
    """
    scheduler, responses = _queue("scheduler", now), _queue("responses", now)
    twins: dict[str, Any] = {
        "settings": Settings(),
        "telemetry": MemoryTelemetry(),
        "new_id": lambda: f"id-{next(_ids)}",
        "store": MemoryTaskStore(shard_of=lambda _: 0),
        "queues": MemoryQueues(scheduler, responses, {name: _queue(name, now) for name in agents}),
        "rejects": MemoryRejects(),
        "shared_records": MemorySharedRecords(),
        "alerts": MemoryAlerts(),
        "lanes": MemoryLanes(),
        "lane_queue": MemoryLaneQueue(MemoryFifoQueue(name="order-events.fifo", clock=now)),
        "ledgers": MemoryLedgers(),
    }
    return Assembly(now=now, **(twins | ports))


def _queue(name: str, now: Callable[[], int]) -> MemoryQueue:
    return MemoryQueue(name=name, clock=now)
