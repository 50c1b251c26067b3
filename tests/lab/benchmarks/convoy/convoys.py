"""How fast the convoy applies ledger entries, what they cost, and what a hot order does to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from stepward.cli.cost.estimate import MILLION, Measured, estimate, measured, prices
from tests.lab.benchmarks.convoy.lane_cloud import Counted, counted
from tests.lab.benchmarks.convoy.lane_memory import Beside, Pace, beside, pace
from tests.lab.benchmarks.cost.cost import MEASURED
from tests.lab.benchmarks.tables import table

BATCHES = (1, 10)
IN_MEMORY = ((1, 5_000), (100, 5_000), (10_000, 10_000))
ON_CLOUD = ((1, 200), (100, 200), (400, 800))
"""Orders, and entries that add to them. More would take the local cloud too long, and no more requests per entry."""
HOT = (0, 1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Carried:
    """Everything that was measured; `usd` is the price of a million entries, by "kind orders batch"."""

    paces: Sequence[Pace]
    counted: Sequence[Counted]
    usd: Mapping[str, float]
    hot: Sequence[Beside]


def measure(progress: Callable[[str], None]) -> Carried:
    paces, found = [], []
    for orders, entries in IN_MEMORY:
        for batch in BATCHES:
            progress(f"applying {entries} entries of {orders} orders in memory, batch {batch}")
            paces.append(pace(orders, batch, entries))
    for orders, entries in ON_CLOUD:
        for batch in BATCHES:
            progress(f"applying {entries} entries of {orders} orders on the local cloud, batch {batch}")
            found += counted(orders, batch, entries)
    hot = []
    for events in HOT:
        progress(f"sending 100 orders behind one of {events} events")
        hot.append(beside(events))
    return Carried(paces, found, priced(found), hot)


def priced(found: Sequence[Counted]) -> Mapping[str, float]:
    by_batch: dict[tuple[str, int], dict[int, Mapping[str, float]]] = {}
    for each in found:
        by_batch.setdefault((each.what, each.orders), {})[each.batch] = each.billed
    return {
        f"{what} {orders} {batch}": million_usd(batches, batch)
        for (what, orders), batches in by_batch.items()
        for batch in batches
    }


def million_usd(batches: Mapping[int, Mapping[str, float]], batch: int) -> float:
    """US dollars for a million entries in batches of `batch`; `batches` is what each takes, by batch size."""
    known = measured()
    whole = {size: dict.fromkeys(MEASURED, 0.0) | dict(billed) for size, billed in batches.items()}
    one = estimate(Measured({1: whole}, {}, known.sweep, known.stack), steps=1, batch=batch).order_usd
    price = prices()["fifo request"]
    fifo: float = whole[batch]["fifo requests"] * price["usd"] / price["per"]
    return (one + fifo) * MILLION


def tables_of(found: Carried) -> Sequence[Table]:
    """The results for a person."""
    return [_pace_table(found.paces), _counted_table(found), _hot_table(found.hot)]


def _pace_table(paces: Sequence[Pace]) -> Table:
    columns = ("orders interleaved", "batch", "entries", "split/s", "applied/s")
    made = table("Convoy, memory twins, one process", *columns)
    for each in paces:
        figures = (each.batch, each.entries, each.split_per_s, each.applied_per_s)
        made.add_row(f"{each.orders:,}", *(f"{figure:,.0f}" for figure in figures))
    return made


def _counted_table(found: Carried) -> Table:
    made = table(
        "Per entry, counted on the local cloud: calls to DynamoDB, its units, requests to FIFO queues, runs; us-east-1",
        *("", "orders", "batch", "entries", "calls", "writes", "reads", "FIFO", "runs", "applied/s", "$/million"),
    )
    for each in found.counted:
        billed = each.billed
        names = ("write units", "read units", "fifo requests", "invocations")
        made.add_row(
            each.what,
            *(f"{count:,}" for count in (each.orders, each.batch, each.entries)),
            f"{sum(each.calls.values()):.2f}",
            *(f"{billed.get(name, 0):.2f}" for name in names),
            f"{each.applied_per_s:,.0f}",
            f"{found.usd[f'{each.what} {each.orders} {each.batch}']:.2f}",
        )
    return made


def _hot_table(found: Sequence[Beside]) -> Table:
    made = table(
        "100 orders of 10 events each behind a hot order, 8 consumers, batches of 10 at 60 ms, virtual time",
        *("events of the hot order", "first, ms", "median, ms", "last, ms", "the hot order's last, ms"),
    )
    for each in found:
        figures = (each.first_ms, each.median_ms, each.last_ms, each.hot_ms)
        made.add_row(f"{each.hot:,}", *(f"{figure:,}" for figure in figures))
    return made
