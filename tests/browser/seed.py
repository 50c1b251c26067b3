"""Ten thousand orders of which 300 failed for three reasons, put straight into the tables of a stack."""

from __future__ import annotations

from dataclasses import replace

from orders.fulfilment import fulfilment
from stepward.domain.messages import Outcome, Reply, Start
from stepward.domain.submission import Order
from stepward.domain.task.decide import AlertSent, decide
from stepward.domain.task.record import Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.operator.connection import Connection
from tests.browser.shop import sample

ORDERS = 10_000
TIMING = Timing()
REASONS = {
    "charge": {"payments/charge: refused with card_expired": 180, "payments/charge: refused with bank_closed": 90},
    "reserve": {"inventory/reserve: refused with unknown_sku": 30},
}
FAILED = [(step, error) for step, errors in REASONS.items() for error, count in errors.items() for _ in range(count)]
CALLER = "corner-bakery"
"""The customer who calls; one of their three orders failed."""


def seed(connection: Connection) -> None:
    """Put the orders into the tables: one a second up to now, the failed ones spread among them."""
    plan = fulfilment.plan()
    store, now = connection.store, connection.now()
    rows = replace(store._orders, by_customer=True)
    store._store_plan(plan)
    every = ORDERS // len(FAILED)
    with store.tasks.batch_write() as tasks, rows.table.batch_write() as orders:
        for number in range(ORDERS):
            at, key = now - (ORDERS - number) * 1_000 - 60_000, f"ord-{number:05d}"
            step, error = FAILED[number // every] if number % every == 7 and number // every < len(FAILED) else ("", "")
            customer = CALLER if number in _CALLERS else f"customer-{number % 2_000}"
            orders.save(rows.row(_order(key, customer), key, at))
            tasks.save(store._item(_task(key, plan, at, step, error), key))


_CALLERS = (41, 4_957, 5_000)


def _order(key: str, customer: str) -> Order:
    return Order(key, sample("orders/order", orderId=key, customerId=customer), "hash")


def _task(key: str, plan: Plan, at: int, wrong: str, error: str) -> Task:
    """An order as its steps have left it: all Processed, or in Error with the operators alerted."""
    task = decide(new_task(key, plan, at, TIMING), plan, Start(key), now=at, by="seed", timing=TIMING).task
    for number, step in enumerate(plan.steps, 1):
        record, failed = task.steps[step.name], step.name == wrong
        outcome = Outcome.PERMANENT if failed else Outcome.OK
        result = {"reservation": f"{step.name}-{key}"}
        reply = Reply(key, step.name, record.attempt, record.token or "", outcome, result, error if failed else "")
        task = decide(task, plan, reply, now=at + number * 400, by="seed", timing=TIMING).task
        if failed:
            told = AlertSent(step.name, record.attempt, False)
            return decide(task, plan, told, now=at + number * 400 + 100, by="seed", timing=TIMING).task
    return task
