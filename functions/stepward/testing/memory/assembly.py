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

_ids = count(1)
"""Shared by all assemblies, for they may be instances of one deployment."""


def memory_assembly(now: Callable[[], int], agents: Iterable[str] = (), **ports: Any) -> Assembly:
    """An assembly on the twins, whose agents have these names; `ports` replace fields of the Assembly.

    Give `app`, `notices`, `sleep` and `jitter` to use what needs them: they have no twin.
    """
    twins: dict[str, Any] = {
        "settings": Settings(),
        "telemetry": MemoryTelemetry(),
        "new_id": lambda: f"id-{next(_ids)}",
        "store": MemoryTaskStore(shard_of=lambda _: 0),
        "queues": MemoryQueues.new(now, agents),
        "rejects": MemoryRejects(),
        "shared_records": MemorySharedRecords(),
        "alerts": MemoryAlerts(),
        "lanes": MemoryLanes(),
        "lane_queue": MemoryLaneQueue(MemoryFifoQueue(name="order-events.fifo", clock=now)),
        "ledgers": MemoryLedgers(),
        "callback_keys": lambda: [b"a key of the twins"],
    }
    return Assembly(now=now, **(twins | ports))
