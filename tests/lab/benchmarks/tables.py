"""The results as tables for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from stepward.cli.cost.estimate import MILLION, Measured, Quantities, estimate
from tests.lab.benchmarks.contention import Contended
from tests.lab.benchmarks.engine import Speed
from tests.lab.benchmarks.growth import Sweep
from tests.lab.benchmarks.startup import Started

_PLAIN: Mapping[str, Any] = {"box": None, "padding": (0, 2, 0, 0), "header_style": "dim"}


def table(title: str, *columns: str, boxed: bool = False) -> Table:
    """An empty table: the first column is text, the others are numbers."""
    made = Table(title=title, title_justify="left", **({} if boxed else _PLAIN))
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    return made


def cost_table(found: Measured) -> Table:
    """What orders of every measured number of steps cost, alone and in full batches."""
    made = table("Billed per order, us-east-1", *_BILLED, "$ / million")
    for steps, by_batch in found.orders.items():
        for batch, counted in by_batch.items():
            usd = estimate(found, steps=steps, batch=batch).order_usd * MILLION
            made.add_row(f"{steps} steps, batch {batch}", *_billed(counted), f"{usd:,.2f}")
    usd = estimate(found, steps=3, batch=1, recoveries=1).order_usd - estimate(found, steps=3, batch=1).order_usd
    made.add_row("one recovery more", *_billed(found.recovery), f"{usd * MILLION:,.2f}")
    return made


_BILLED = ("", "write units", "read units", "SQS requests", "invocations", "messages", "log bytes")


def _billed(counted: Quantities) -> Sequence[str]:
    logged = counted["log bytes"] + counted["metric bytes"]
    names = ("write units", "read units", "sqs requests", "invocations", "messages")
    return [*(f"{counted[name]:g}" for name in names), f"{logged:,.0f}"]


def lines_table(found: Measured) -> Table:
    """What each line of the bill of a 3-step order comes to."""
    alone, full = (estimate(found, steps=3, batch=batch) for batch in (1, 10))
    made = table("A million 3-step orders, us-east-1", "", "batch 1, $", "batch 10, $")
    for one, ten in zip(alone.per_order, full.per_order, strict=True):
        made.add_row(one.name, f"{one.usd * MILLION:,.2f}", f"{ten.usd * MILLION:,.2f}")
    made.add_row("in all", f"{alone.order_usd * MILLION:,.2f}", f"{full.order_usd * MILLION:,.2f}", style="bold")
    return made


def payload_table(found: Mapping[int, Quantities]) -> Table:
    """How the bill grows with the size of an order."""
    made = table("A 3-step order of so many lines, batch 10", *_BILLED[:6])
    for items, counted in found.items():
        made.add_row(f"{items} lines", *_billed(counted)[:5])
    return made


def speed_table(found: Sequence[Speed]) -> Table:
    """How fast the engine is."""
    made = table("Engine, memory twins, one process", "", "at once", "orders", "orders/s", "p50 ms", "p99 ms", "CPU ms")
    for each in found:
        figures = (each.orders_per_s, each.p50_ms, each.p99_ms, each.cpu_ms)
        made.add_row(each.name, str(each.concurrency), str(each.orders), *(f"{figure:,.2f}" for figure in figures))
    return made


def startup_table(found: Sequence[Started], sizes: Mapping[str, float]) -> Table:
    """How long functions take to start."""
    made = table(
        f"Start-up, whole process (bundle: {sizes['unpacked']} MB, {sizes['archive']} MB as an archive)",
        *("", "ms", "CPU ms", "times boto3 with two clients"),
    )
    for each in found:
        made.add_row(each.name, f"{each.ms:,.0f}", f"{each.cpu_ms:,.0f}", f"{each.beside:.2f}")
    return made


def sweep_table(found: Sequence[Sweep]) -> Table:
    """How a sweep grows."""
    made = table("Supervisor, one sweep", "", "tasks", "overdue", "queries", "reads", "writes", "read units", "ms")
    for each in found:
        counts = (each.tasks, each.overdue, each.queries, each.reads, each.writes, each.read_units)
        texts = (f"{count:,g}" if count < 1e6 else f"{count:,}" for count in counts)
        made.add_row(each.world, *texts, f"{each.ms:,.1f}")
    return made


def contention_table(found: Sequence[Contended]) -> Table:
    """How many writes are lost when steps side by side are answered at the same moment."""
    made = table("Steps side by side, answered at once", "steps", "writes", "lost", "returned", "ms")
    for each in found:
        counts = (each.steps, each.writes, each.lost, each.returned)
        made.add_row(*(f"{count:,}" for count in counts), f"{each.ms:,.0f}")
    return made


def growth_table(found: Mapping[int, Speed]) -> Table:
    """How the engine's time grows with the steps of an order."""
    made = table("Engine, 50 at once, by steps", "", "orders/s", "CPU ms per order", "CPU ms per step")
    for steps, each in found.items():
        made.add_row(f"{steps} steps", f"{each.orders_per_s:,.0f}", f"{each.cpu_ms:.2f}", f"{each.cpu_ms / steps:.2f}")
    return made
