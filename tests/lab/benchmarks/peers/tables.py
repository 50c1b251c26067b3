"""What the benchmark of the peers shows: bills, assumptions, speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from tests.lab.benchmarks.peers.cost import WORK, Assumptions, Bill
from tests.lab.benchmarks.peers.measuring import Measured
from tests.lab.benchmarks.peers.own import break_even
from tests.lab.benchmarks.peers.speed import Skipped


def bills_table(bills: Sequence[Bill], given: Assumptions) -> Table:
    """Each bill, line by line."""
    table = Table(title=f"{given.orders:,} orders of {given.steps} steps, list prices", title_justify="left")
    table.add_column("engine")
    table.add_column("for")
    table.add_column("quantity", justify="right")
    table.add_column("USD", justify="right")
    for bill in bills:
        table.add_section()
        for line in bill.lines:
            table.add_row(bill.name, line.what, f"{line.quantity:,.2f}".rstrip("0").rstrip("."), f"{line.usd:.2f}")
        table.add_row(bill.name, f"all of it; {bill.note}", "", f"{bill.usd:.2f}", style="bold")
        table.add_row(bill.name, f"all but {WORK}", "", f"{bill.usd_of_engine:.2f}")
    return table


def break_even_table(own: Sequence[Bill], bills: Sequence[Bill], given: Assumptions) -> Table:
    """From how many orders a month Stepward is the cheaper one."""
    table = Table("cheaper than", title="Orders a month from which Stepward is cheaper", title_justify="left")
    for mine in own:
        table.add_column(mine.name, justify="right")
    for bill in bills:
        found = [break_even(mine, bill, given.orders) for mine in own]
        table.add_row(bill.name, *("never" if orders is None else f"{orders:,}" for orders in found))
    return table


def assumptions_table(given: Assumptions) -> Table:
    """Every assumption."""
    table = Table("assumption", "value", title="Assumed", title_justify="left")
    for name, value in asdict(given).items():
        table.add_row(name, f"{value:,}")
    return table


def speed_table(found: Sequence[Measured | Skipped]) -> Table:
    """Each engine at each concurrency."""
    table = Table(title="three steps that do nothing, on this machine", title_justify="left")
    table.add_column("engine")
    for name in ("at once", "orders", "orders/s", "p50 ms", "p99 ms"):
        table.add_column(name, justify="right")
    for one in found:
        match one:
            case Measured():
                figures = (one.concurrency, one.orders, one.orders_per_s, one.p50_ms, one.p99_ms)
                table.add_row(one.name, *(f"{figure:,}" for figure in figures))
            case Skipped():
                table.add_row(one.name, f"skipped: {one.reason}")
    return table
