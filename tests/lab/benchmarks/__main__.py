"""Measures price and speed, and writes the results to build/bench: `python -m tests.lab.benchmarks [PART ...]`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from rich.console import Console, RenderableType

from stepward.cli.cost import estimate
from tests.lab.benchmarks import contention, engine, growth, startup, tables
from tests.lab.benchmarks.convoy import convoys
from tests.lab.benchmarks.cost import cost
from tests.lab.benchmarks.machine import Machine
from tests.lab.benchmarks.workload import line

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "build" / "bench"
PAYLOADS = (1, 3, 30, 300)
STEPS = (1, 3, 10, 30)
STARTS = 9
Progress = Callable[[str], None]
Result = tuple[object, Sequence[RenderableType]]


def measure_cost(progress: Progress) -> Result:
    """What AWS would bill; it also writes the file that `stepward cost` reads."""
    cost.write(cost.measure(progress))
    estimate.measured.cache_clear()
    found = estimate.measured()
    sizes = {}
    for items in PAYLOADS:
        progress(f"counting the requests of an order of {items} lines")
        sizes[items] = cost.happy(3, 10, items)
    results = {"counted": asdict(found), "payloads": sizes}
    return results, [tables.cost_table(found), tables.lines_table(found), tables.payload_table(sizes)]


def measure_engine(progress: Progress) -> Result:
    """How fast the engine is."""
    found = []
    for logged in (False, True):
        for concurrency, orders in ((1, 500), (50, 3000)):
            progress(f"running {orders} orders, {concurrency} at once")
            found.append(engine.measure(concurrency, orders, logged=logged))
    return [asdict(each) for each in found], [tables.speed_table(found)]


def measure_startup(progress: Progress) -> Result:
    """How long functions take to start."""
    found, sizes = startup.measure(STARTS, progress), startup.sizes()
    return {"started": [asdict(each) for each in found], "bundle": sizes}, [tables.startup_table(found, sizes)]


def measure_growth(progress: Progress) -> Result:
    """How work grows."""
    sweeps = growth.measure(progress)
    progress("answering steps at once")
    contended = contention.measure()
    steps = {}
    for count in STEPS:
        progress(f"running orders of {count} steps")
        steps[count] = engine.measure(50, 2000 // count, workflow=line(count))
    results = {
        "sweeps": [asdict(each) for each in sweeps],
        "contended": [asdict(each) for each in contended],
        "steps": {count: asdict(each) for count, each in steps.items()},
    }
    return results, [tables.sweep_table(sweeps), tables.contention_table(contended), tables.growth_table(steps)]


def measure_convoy(progress: Progress) -> Result:
    """How many ledger entries the convoy applies, and what they cost."""
    found = convoys.measure(progress)
    return asdict(found), convoys.tables_of(found)


PARTS: Mapping[str, Callable[[Progress], Result]] = {
    "cost": measure_cost,
    "engine": measure_engine,
    "startup": measure_startup,
    "growth": measure_growth,
    "convoy": measure_convoy,
}
OTHERS = {"peers": "tests.lab.benchmarks.peers", "recovery": "tests.lab.benchmarks.recovery"}
"""Separate programs, which show and write their results themselves."""


def main(wanted: Sequence[str]) -> None:
    """Measure the parts that are named, or all."""
    if unknown := sorted({*wanted} - {*PARTS, *OTHERS}):
        raise SystemExit(f"no part is named {', '.join(unknown)}; there are {', '.join([*PARTS, *OTHERS])}")
    console = Console()
    RESULTS.mkdir(parents=True, exist_ok=True)
    console.print(str(Machine.here()), highlight=False)
    for name in wanted or [*PARTS, *OTHERS]:
        began = perf_counter()
        _run(name, console)
        console.print(f"[{name}: {perf_counter() - began:,.0f} s]\n", highlight=False, markup=False)


def _run(name: str, console: Console) -> None:
    if name in OTHERS:
        subprocess.run([sys.executable, "-m", OTHERS[name]], cwd=ROOT, check=True)  # noqa: S603 - our own module
        return
    with console.status(name) as status:
        results, shown = PARTS[name](status.update)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    console.print(*shown, sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
