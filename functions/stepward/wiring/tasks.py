"""The state store."""

from __future__ import annotations

from dataclasses import replace

from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.tables import Access, OrderItem, bound
from stepward.adapters.dynamodb.task_items import DynamoResults, PlanItem, ResultItem, TaskItem
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.adapters.dynamodb.wishes import DynamoWishes, WishItem
from stepward.wiring.clock import new_id
from stepward.wiring.parts import Parts


def task_store(access: Access, *, orders: str | None, tasks: str, shards: int) -> DynamoTaskStore:
    """The state store on the tables of these names."""
    return DynamoTaskStore(
        orders=DynamoOrders(bound(OrderItem, orders, access)) if orders else None,
        tasks=bound(TaskItem, tasks, access),
        plans=bound(PlanItem, tasks, access),
        results=DynamoResults(bound(ResultItem, tasks, access)),
        wishes=DynamoWishes(bound(WishItem, tasks, access), shards, new_id),
        connection=access.connection,
        shards=shards,
        new_id=new_id,
    )


def store_of(parts: Parts, orders: str | None = None) -> DynamoTaskStore:
    """The state store of a function; with the table `orders` if it needs the orders."""
    store = task_store(parts.access, orders=orders, tasks=parts.config.tasks_table, shards=parts.config.shards)
    if store.orders and parts.config.customer_index:
        store = replace(store, orders=replace(store.orders, by_customer=True))
    return replace(store, keep_finished=parts.config.keep_finished)
