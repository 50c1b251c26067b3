"""The tables of the peers: bills, assumptions, speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from tests.lab.benchmarks.peers.cost import WORK, Assumptions, Bill
from tests.lab.benchmarks.peers.measuring import Measured
from tests.lab.benchmarks.peers.own import break_even
from tests.lab.benchmarks.peers.speed import Skipped
from tests.lab.benchmarks.tables import table

_BILLS = ("engine", "for", "quantity", "USD")


def bills_table(bills: Sequence[Bill], given: Assumptions) -> Table:
    """Each bill, line by line."""
    made = table(f"{given.orders:,} orders of {given.steps} steps, list prices", *_BILLS, boxed=True)
    made.columns[1].justify = "left"
    for bill in bills:
        made.add_section()
        for line in bill.lines:
            made.add_row(bill.name, line.what, f"{line.quantity:,.2f}".rstrip("0").rstrip("."), f"{line.usd:.2f}")
        made.add_row(bill.name, f"all of it; {bill.note}", "", f"{bill.usd:.2f}", style="bold")
        made.add_row(bill.name, f"all but {WORK}", "", f"{bill.usd_of_engine:.2f}")
    return made


def break_even_table(own: Sequence[Bill], bills: Sequence[Bill], given: Assumptions) -> Table:
    """From how many orders a month Stepward is cheaper."""
    title, names = "Orders a month from which Stepward is cheaper", [mine.name for mine in own]
    made = table(title, "cheaper than", *names, boxed=True)
    for bill in bills:
        found = [break_even(mine, bill, given.orders) for mine in own]
        made.add_row(bill.name, *("never" if orders is None else f"{orders:,}" for orders in found))
    return made


def assumptions_table(given: Assumptions) -> Table:
    """Every assumption."""
    made = table("Assumed", "assumption", "value", boxed=True)
    for name, value in asdict(given).items():
        made.add_row(name, f"{value:,}")
    return made


def speed_table(found: Sequence[Measured | Skipped]) -> Table:
    """Each engine at each concurrency."""
    columns = ("engine", "at once", "orders", "orders/s", "p50 ms", "p99 ms")
    made = table("three steps that do nothing, on this machine", *columns, boxed=True)
    for one in found:
        match one:
            case Measured():
                figures = (one.concurrency, one.orders, one.orders_per_s, one.p50_ms, one.p99_ms)
                made.add_row(one.name, *(f"{figure:,}" for figure in figures))
            case Skipped():
                made.add_row(one.name, f"skipped: {one.reason}")
    return made
