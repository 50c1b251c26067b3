"""Prices and measures Stepward's peers: `python -m tests.lab.benchmarks.peers [--only cost|speed] [--seconds 5]`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer
from rich.console import Console

from tests.lab.benchmarks import engine
from tests.lab.benchmarks.peers.cost import Assumptions, Pricing, own_bills, prices
from tests.lab.benchmarks.peers.measuring import CONCURRENCIES, Measured
from tests.lab.benchmarks.peers.speed import PEERS, measure, pin
from tests.lab.benchmarks.peers.tables import assumptions_table, bills_table, break_even_table, speed_table
from tests.lab.results import Machine, store

OWN_ORDERS = 3_000
OWN = "the real use cases and batch handling over the memory twins, one thread; no network, nothing on disk"


def main(
    only: Annotated[Literal["", "cost", "speed"], typer.Option(help="only the prices, or only the speeds")] = "",
    seconds: Annotated[float, typer.Option(help="how long to measure at each concurrency")] = 5.0,
    lock: Annotated[bool, typer.Option("--lock", help="only pin the newest allowed packages of the peers")] = False,
) -> None:
    """Price and measure the peers, show both, and write `peers-cost.json` and `peers-speed.json`."""
    console = Console()
    if lock:
        pin()
        return
    if only != "speed":
        _price(console)
    if only != "cost":
        _measure(console, seconds)


def _price(console: Console) -> None:
    given = Assumptions()
    own, bills = own_bills(given), Pricing(given, prices()).bills()
    console.print(assumptions_table(given), bills_table([*own, *bills], given), break_even_table(own, bills, given))
    sums = ("usd", "usd_of_engine")
    found = [asdict(bill) | {name: round(getattr(bill, name), 2) for name in sums} for bill in [*own, *bills]]
    store("peers-cost", {"assumptions": given, "bills": found})


def _measure(console: Console, seconds: float) -> None:
    machine = Machine.here()
    with console.status("stepward: orders") as status:
        found = [*_own(), *measure(PEERS, seconds, status.update)]
    console.print(speed_table(found))
    console.print(str(machine), highlight=False)
    for name, includes in [("stepward", OWN), *((peer.name, peer.includes) for peer in PEERS)]:
        console.print(f"{name}: {includes}.", highlight=False)
    store("peers-speed", {"machine": machine, "measured": found})


def _own() -> Iterator[Measured]:
    for concurrency in CONCURRENCIES:
        it = engine.speed(concurrency, OWN_ORDERS)
        figures = (round(it.orders_per_s, 1), round(it.p50_ms, 2), round(it.p99_ms, 2))
        yield Measured(it.name, it.concurrency, it.orders, *figures)


if __name__ == "__main__":
    typer.run(main)
