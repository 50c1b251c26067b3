"""The tables of the peers: bills, assumptions, speeds."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from tests.lab.benchmarks.peers.cost import WORK, Assumptions, Bill, break_even
from tests.lab.benchmarks.peers.measuring import Measured
from tests.lab.benchmarks.peers.speed import Skipped
from tests.lab.results import table

_BILLS = ("engine", "for", "quantity", "USD")


def bills_table(bills: Sequence[Bill], given: Assumptions) -> Table:
    made = table(f"{given.orders:,} orders of {given.steps} steps, list prices", *_BILLS)
    made.columns[1].justify = "left"
    for bill in bills:
        made.add_section()
        for line in bill.lines:
            made.add_row(bill.name, line.name, f"{line.quantity:,.2f}".rstrip("0").rstrip("."), f"{line.usd:.2f}")
        made.add_row(bill.name, f"all of it; {bill.note}", "", f"{bill.usd:.2f}", style="bold")
        made.add_row(bill.name, f"all but {WORK}", "", f"{bill.usd_of_engine:.2f}")
    return made


def break_even_table(own: Sequence[Bill], bills: Sequence[Bill], given: Assumptions) -> Table:
    rows = []
    for bill in bills:
        found = [break_even(mine, bill, given.orders) for mine in own]
        rows.append([bill.name, *("never" if orders is None else f"{orders:,}" for orders in found)])
    title, names = "Orders a month from which Stepward is cheaper", [mine.name for mine in own]
    return table(title, "cheaper than", *names, rows=rows)


def assumptions_table(given: Assumptions) -> Table:
    return table("Assumed", "assumption", "value", rows=[(name, f"{value:,}") for name, value in asdict(given).items()])


def speed_table(found: Sequence[Measured | Skipped]) -> Table:
    columns = ("engine", "at once", "orders", "orders/s", "p50 ms", "p99 ms")
    return table("three steps that do nothing, on this machine", *columns, rows=map(_speeds, found))


def _speeds(one: Measured | Skipped) -> Sequence[str]:
    if isinstance(one, Skipped):
        return one.name, f"skipped: {one.reason}"
    return one.name, *(f"{n:,}" for n in (one.concurrency, one.orders, one.orders_per_s, one.p50_ms, one.p99_ms))
