"""The table of the peers' speeds."""

from collections.abc import Sequence

from rich.table import Table

from tests.lab.benchmarks.peers.measuring import Measured
from tests.lab.benchmarks.peers.speed import Skipped
from tests.lab.results import table


def speed_table(found: Sequence[Measured | Skipped]) -> Table:
    columns = ("engine", "at once", "orders", "orders/s", "p50 ms", "p99 ms")
    return table("three steps that do nothing, on this machine", *columns, rows=map(_speeds, found))


def _speeds(one: Measured | Skipped) -> Sequence[str]:
    if isinstance(one, Skipped):
        return one.name, f"skipped: {one.reason}"
    return one.name, *(f"{n:,}" for n in (one.concurrency, one.orders, one.orders_per_s, one.p50_ms, one.p99_ms))
