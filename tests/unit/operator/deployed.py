"""A deployment in memory as the command line and the console reach one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.key import Keys
from stepward.domain.submission import Order
from stepward.operator.connection import Connection
from stepward.testing.engine import Engine
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLanes
from stepward.testing.memory.queues import MemoryQueues
from stepward.testing.memory.searches import MemorySearches
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryRejects, MemoryTaskStore
from stepward.wire.strict_json import canonical
from tests.unit.cli.lives import SUBMITTED, Life

AGENTS = ("inventory", "payments", "shipping")
KEYS = Keys(("line", "gifts"), frozenset({"gifts"}), ("order.submitted", "gift.submitted"))


@dataclass(frozen=True)
class Deployed:
    """The twins, and the connection to them; `time` holds how far the clock is from the first submission."""

    store: MemoryTaskStore = field(default_factory=lambda: MemoryTaskStore(shard_of=lambda _: 0))
    lanes: MemoryLanes = field(default_factory=MemoryLanes)
    records: MemorySharedRecords = field(default_factory=MemorySharedRecords)
    rejects: MemoryRejects = field(default_factory=MemoryRejects)
    since: str = ""
    time: list[int] = field(default_factory=lambda: [60_000])

    def now(self) -> int:
        return SUBMITTED + self.time[0]

    def put(self, life: Life, customer: str = "") -> None:
        """Store an order as its life has left it."""
        content: Mapping[str, Any] = {"orderId": life.order_id} | ({"customerId": customer} if customer else {})
        self.store.plans[life.plan.plan_id] = life.plan
        self.store.orders[life.order_id] = Order.of(life.order_id, canonical(content))
        self.store.tasks[life.order_id] = life.task

    @property
    def connection(self) -> Connection:
        queues = MemoryQueues.new(self.now, AGENTS)
        found = connected(self.store, self.lanes, self.records, self.rejects, queues, self.now, KEYS)
        found.deployment.__dict__["customer_index_since"] = self.since
        return found


def of_engine(engine: Engine) -> Connection:
    """The connection to an engine in memory, whose functions act when it runs."""
    parts = engine.parts
    queues = replace(parts.queues, scheduler=parts.pump.lines["scheduler"].queue)
    lane_queue = MemoryLaneQueue(parts.events)
    made = connected(
        parts.store,
        parts.lanes,
        parts.shared_records,
        parts.rejects,
        queues,
        lambda: engine.loop.now,
        engine.app.keys,
    )
    return replace(made, lane_queue=lane_queue)


def connected(
    store: MemoryTaskStore,
    lanes: MemoryLanes,
    records: MemorySharedRecords,
    rejects: MemoryRejects,
    queues: MemoryQueues,
    now: Callable[[], int],
    keys: Keys,
) -> Connection:
    deployment = SimpleNamespace(
        keys=keys,
        agent_queue_urls=dict.fromkeys(queues.agents, "url"),
        dead_letters={},
        shards=1,
        customer_index_since="",
        orders_queue_url="https://sqs/orders",
        ledgers_queue_url="https://sqs/ledgers",
        customer_ledger_queue_urls={},
        order_events_queue_url="https://sqs/order-events",
    )
    twins: dict[str, Any] = {
        "deployment": deployment,
        "store": store,
        "searches": MemorySearches(store),
        "rejects": rejects,
        "queues": queues,
        "breakers": Breakers(records),
        "audit_log": AuditLog(records),
        "shared_records": records,
        "lanes": lanes,
        "now": now,
        "new_id": lambda: "id-1",
        "alarms": tuple,
    }
    return Connection(**twins | dict.fromkeys(("sender", "sqs", "lane_queue", "s3")))


def failed_orders(
    deployed: Deployed, count: int, error: str = "refused with card_declined", prefix: str = "ord"
) -> None:
    """So many orders whose charge failed, one submitted each second."""
    for number in range(count):
        life = Life(f"{prefix}-{number:05d}").start(number * 1000)
        deployed.put(life.answer("reserve", number * 1000 + 10).answer("charge", number * 1000 + 20, error))
