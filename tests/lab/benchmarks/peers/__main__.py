"""Prices and measures Stepward's peers: `python -m tests.lab.benchmarks.peers [--only cost|speed] [--seconds 5]`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console

from tests.lab.benchmarks import engine
from tests.lab.benchmarks.machine import Machine
from tests.lab.benchmarks.peers import environments
from tests.lab.benchmarks.peers.cost import Assumptions, Bill, Pricing, prices
from tests.lab.benchmarks.peers.measuring import CONCURRENCIES, Measured
from tests.lab.benchmarks.peers.own import own_bills
from tests.lab.benchmarks.peers.speed import PEERS, Skipped, measure
from tests.lab.benchmarks.peers.tables import assumptions_table, bills_table, break_even_table, speed_table

RESULTS = environments.ROOT / "build" / "bench"
OWN_ORDERS = 3_000
OWN = "the real use cases and batch handling over the memory twins, one thread; no network, nothing on disk"


def run(console: Console, only: str = "", seconds: float = 5.0) -> None:
    """Price and measure the peers, show both, and write `peers-cost.json` and `peers-speed.json`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    if only in ("", "cost"):
        given = Assumptions()
        own, bills = own_bills(given), Pricing(given, prices()).bills()
        console.print(assumptions_table(given), bills_table([*own, *bills], given), break_even_table(own, bills, given))
        _write("peers-cost", {"assumptions": asdict(given), "bills": [_as_json(bill) for bill in [*own, *bills]]})
    if only in ("", "speed"):
        machine = Machine.here()
        found = _measured(console, seconds)
        console.print(speed_table(found))
        console.print(str(machine), highlight=False)
        for name, includes in [("stepward", OWN), *((peer.name, peer.includes) for peer in PEERS)]:
            console.print(f"{name}: {includes}.", highlight=False)
        _write("peers-speed", {"machine": asdict(machine), "measured": [asdict(one) for one in found]})


def _measured(console: Console, seconds: float) -> Sequence[Measured | Skipped]:
    with console.status("stepward: orders") as status:
        return [*_own(), *measure(PEERS, seconds, status.update)]


def _own() -> Iterator[Measured]:
    for concurrency in CONCURRENCIES:
        it = engine.measure(concurrency, OWN_ORDERS)
        figures = (round(it.orders_per_s, 1), round(it.p50_ms, 2), round(it.p99_ms, 2))
        yield Measured(it.name, it.concurrency, it.orders, *figures)


def _as_json(bill: Bill) -> dict[str, object]:
    return asdict(bill) | {"usd": round(bill.usd, 2), "usd_of_engine": round(bill.usd_of_engine, 2)}


def _write(name: str, found: object) -> None:
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.benchmarks.peers", description=__doc__)
    parser.add_argument("--only", choices=("cost", "speed"), default="", help="only the prices, or only the speeds")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to measure at each concurrency")
    parser.add_argument("--lock", action="store_true", help="only pin the newest allowed packages of the peers")
    options = parser.parse_args()
    if options.lock:
        environments.lock()
    else:
        run(Console(), options.only, options.seconds)


if __name__ == "__main__":
    main()
