"""Stepward's own bill from the counts of the benchmark, and the number of orders from which it is cheaper."""

import math
from collections.abc import Sequence
from dataclasses import replace

from stepward.cli.cost import estimate
from tests.lab.benchmarks.peers.cost import WORK, Assumptions, Bill

BATCHES = (10, 1)
MONTH = "a month, whatever the orders"
NOTE = "with the queue in front, the order's record, alarms and metrics"


def own_bills(given: Assumptions) -> Sequence[Bill]:
    """Stepward's bill for full batches and for single messages, each with one month's fixed costs."""
    return [_bill(given, batch) for batch in BATCHES]


def break_even(own: Bill, peer: Bill, orders: int) -> int | None:
    """From how many orders a month `own` is cheaper, where both bill `orders` in a month; None if never."""
    fixed = sum(line.usd for line in own.lines if line.name == MONTH)
    saved = (peer.usd - (own.usd - fixed)) / orders
    return math.ceil(fixed / saved) if saved > 0 else None


def _bill(given: Assumptions, batch: int) -> Bill:
    worked, idle = (_estimate(given, batch, wait) for wait in (given.step_ms, 0))
    work = (worked.order_usd - idle.order_usd) * given.orders
    lines = [replace(it, quantity=it.quantity * given.orders, usd=it.usd * given.orders) for it in idle.per_order]
    of_work = estimate.Line(WORK, work / estimate.prices()["gigabyte-second"]["usd"], "gigabyte-second", work)
    of_month = estimate.Line(MONTH, 1, "", worked.month_usd)
    return Bill(f"Stepward, batches of {batch}", (*lines, of_work, of_month), NOTE)


def _estimate(given: Assumptions, batch: int, operation_ms: float) -> estimate.Estimate:
    assumed = replace(estimate.Assumptions(), memory_mb=given.memory_mb, operation_ms=operation_ms)
    return estimate.estimate(estimate.measured(), steps=given.steps, batch=batch, assumed=assumed)
