"""Measures price and speed, and writes the results to build/bench: `python -m tests.lab.benchmarks [PART ...]`."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from rich.console import Console

from tests.lab.benchmarks import engine, growth, loading, startup
from tests.lab.benchmarks.convoy import convoys
from tests.lab.benchmarks.cost import cost
from tests.lab.results import ROOT, Machine, Progress, Result, store

PARTS: Mapping[str, Callable[[Progress], Result]] = {
    "cost": cost.measure,
    "engine": engine.measure,
    "startup": startup.measure,
    "loading": loading.measure,
    "growth": growth.measure,
    "convoy": convoys.measure,
}
OTHERS = ("peers", "recovery")
"""Separate programs, which show and write their results themselves."""


def main(wanted: Sequence[str]) -> None:
    """Measure the parts that are named, or all."""
    if unknown := sorted({*wanted} - {*PARTS, *OTHERS}):
        raise SystemExit(f"no part is named {', '.join(unknown)}; there are {', '.join([*PARTS, *OTHERS])}")
    console = Console()
    console.print(str(Machine.here()), highlight=False)
    for name in wanted or [*PARTS, *OTHERS]:
        began = perf_counter()
        _run(name, console)
        console.print(f"[{name}: {perf_counter() - began:,.0f} s]\n", highlight=False, markup=False)


def _run(name: str, console: Console) -> None:
    if name in OTHERS:
        command = [sys.executable, "-m", f"tests.lab.benchmarks.{name}"]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - our own module
        return
    with console.status(name) as status:
        results, shown = PARTS[name](status.update)
    store(name, results)
    console.print(*shown, sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
