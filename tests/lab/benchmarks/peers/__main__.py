"""Prices and measures Stepward's peers: `python -m tests.lab.benchmarks.peers [--only cost|speed] [--seconds 5]`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer
from rich.console import Console

from stepward.cli.cost.estimate import MILLION
from tests.lab.benchmarks import engine
from tests.lab.benchmarks.cost import volumes
from tests.lab.benchmarks.peers.measuring import CONCURRENCIES, Measured
from tests.lab.benchmarks.peers.speed import PEERS, measure, pin
from tests.lab.benchmarks.peers.tables import speed_table
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
    deployment, work = volumes.ordinary()
    console.print(*volumes.made(), sep="\n\n", markup=False, highlight=False)
    bills = [asdict(bill) for bill in deployment.peers(work, MILLION)]
    store("peers-cost", {"assumptions": deployment.assumed, "order": work, "bills": bills})


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
