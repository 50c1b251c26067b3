"""The state store, and what changes a task in it."""

from __future__ import annotations

from dataclasses import replace

from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access, OrderItem, bound
from stepward.adapters.dynamodb.task_items import PlanItem, TaskItem
from stepward.app.transition import Transition
from stepward.ports import Queues, TaskStore
from stepward.wiring.alerts import alerts
from stepward.wiring.clock import new_id, now
from stepward.wiring.parts import Parts


def task_store(access: Access, *, orders: str | None, tasks: str, shards: int) -> DynamoTaskStore:
    """The state store on the tables of these names."""
    return DynamoTaskStore(
        orders=DynamoOrders(bound(OrderItem, orders, access)) if orders else None,
        tasks=bound(TaskItem, tasks, access),
        plans=bound(PlanItem, tasks, access),
        connection=access.connection,
        shards=shards,
        new_id=new_id,
    )


def store_of(parts: Parts, orders: str | None = None) -> DynamoTaskStore:
    """The state store of a function; with the table `orders` if it has to do with what was ordered."""
    store = task_store(parts.access, orders=orders, tasks=parts.config.tasks_table, shards=parts.config.shards)
    return replace(store, keep_finished=parts.config.keep_finished)


def transition_of(parts: Parts, role: str, store: TaskStore, queues: Queues) -> Transition:
    """What writes a change of a task and sends what follows from it, for an instance of `role`."""
    return Transition(
        store=store,
        queues=queues,
        alerts=alerts(parts),
        telemetry=parts.telemetry,
        timing=parts.config.timing,
        instance=f"{role}-{new_id()}",
        now=now,
    )
