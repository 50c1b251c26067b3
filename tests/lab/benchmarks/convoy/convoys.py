"""How fast the convoy applies ledger entries, what they cost, and what a hot order does to the others."""

from collections.abc import Mapping, Sequence
from itertools import product

from rich.table import Table

from stepward.cli.cost.counting import COUNTED
from stepward.cli.cost.estimate import MILLION, estimate, measured, prices
from tests.lab.benchmarks.convoy.lane_cloud import Counted, counted
from tests.lab.benchmarks.convoy.lane_memory import Beside, Pace, beside, pace
from tests.lab.results import Progress, Result, table

BATCHES = (1, 10)
IN_MEMORY = ((1, 5_000), (100, 5_000), (10_000, 10_000))
ON_CLOUD = ((1, 200), (100, 200), (400, 800))
"""Orders, and entries that add to them. More would take the local cloud too long, and no more requests per entry."""
HOT = (0, 1_000, 10_000)


def measure(progress: Progress) -> Result:
    """How many ledger entries the convoy applies, and what they cost."""
    paces, found = [], []
    for (orders, entries), batch in product(IN_MEMORY, BATCHES):
        progress(f"applying {entries} entries of {orders} orders in memory, batch {batch}")
        paces.append(pace(orders, batch, entries))
    for (orders, entries), batch in product(ON_CLOUD, BATCHES):
        progress(f"applying {entries} entries of {orders} orders on the local cloud, batch {batch}")
        found += counted(orders, batch, entries)
    hot = []
    for events in HOT:
        progress(f"sending 100 orders behind one of {events} events")
        hot.append(beside(events))
    results = {"paces": paces, "counted": found, "usd": (usd := priced(found)), "hot": hot}
    return results, [_pace_table(paces), _counted_table(found, usd), _hot_table(hot)]


def priced(found: Sequence[Counted]) -> Mapping[str, float]:
    """US dollars for a million entries, by "kind orders batch"."""
    return {f"{each.what} {each.orders} {each.batch}": million_usd(each.billed) for each in found}


def million_usd(billed: Mapping[str, float]) -> float:
    """US dollars for a million entries; `billed` is what each takes."""
    counted, price = dict.fromkeys(COUNTED, 0.0) | dict(billed), prices()["fifo request"]
    fifo: float = counted["fifo requests"] * price["usd"] / price["per"]
    return (estimate(counted, measured()).order_usd + fifo) * MILLION


def _pace_table(paces: Sequence[Pace]) -> Table:
    rows = [
        [f"{figure:,.0f}" for figure in (it.orders, it.batch, it.entries, it.split_per_s, it.applied_per_s)]
        for it in paces
    ]
    columns = ("orders interleaved", "batch", "entries", "split/s", "applied/s")
    return table("Convoy, memory twins, one process", *columns, rows=rows, boxed=False)


def _counted_table(found: Sequence[Counted], usd: Mapping[str, float]) -> Table:
    names = ("write units", "read units", "fifo requests", "invocations")
    rows = [
        [
            it.what,
            *(f"{count:,}" for count in (it.orders, it.batch, it.entries)),
            f"{sum(it.calls.values()):.2f}",
            *(f"{it.billed.get(name, 0):.2f}" for name in names),
            f"{it.applied_per_s:,.0f}",
            f"{usd[f'{it.what} {it.orders} {it.batch}']:.2f}",
        ]
        for it in found
    ]
    counts = "calls to DynamoDB, its units, requests to FIFO queues, runs"
    columns = ("", "orders", "batch", "entries", "calls", "writes", "reads", "FIFO", "runs", "applied/s", "$/million")
    return table(f"Per entry, counted on the local cloud: {counts}; us-east-1", *columns, rows=rows, boxed=False)


def _hot_table(found: Sequence[Beside]) -> Table:
    rows = [[f"{n:,}" for n in (it.hot, it.first_ms, it.median_ms, it.last_ms, it.hot_ms)] for it in found]
    title = "100 orders of 10 events each behind a hot order, 8 consumers, batches of 10 at 60 ms, virtual time"
    columns = ("events of the hot order", "first, ms", "median, ms", "last, ms", "the hot order's last, ms")
    return table(title, *columns, rows=rows, boxed=False)
