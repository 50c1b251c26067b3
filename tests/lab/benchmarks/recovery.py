"""How long an order takes to end after kill -9 of the process that worked on it, on the local cloud.

`python -m tests.lab.benchmarks.recovery [--complete-by 1 2 5] [--wake 1] [--times 3]`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from stepward.project import Project
from tests.lab.benchmarks.kills import Bench, Killed, Spoiled, bench
from tests.lab.benchmarks.machine import Machine
from tests.lab.benchmarks.tables import table


@dataclass(frozen=True, slots=True)
class Recovery:
    """One kill, and the seconds until the Supervisor noticed, the step was called again, and the order ended."""

    killed: str
    complete_by_s: float
    wake_s: float
    noticed_s: float
    again_s: float
    end_s: float


def recoveries(
    complete_by_s: Sequence[float], wake_s: float, times: int, progress: Callable[[str], None]
) -> Iterator[Recovery | Spoiled]:
    """Kill `times` agents and Schedulers for each complete-by, with a Supervisor that wakes every `wake_s` seconds."""
    with TemporaryDirectory(prefix="stepward-") as folder:
        for limit in complete_by_s:
            progress(f"complete-by {limit:g} s: deploying")
            with bench(Path(folder), limit) as victim, victim.stage.supervised(wake_s):
                victim.warm_up()
                for number, (name, kill) in enumerate(_kills(victim, times), start=1):
                    progress(f"complete-by {limit:g} s: {name}, kill {number}")
                    yield _measured(victim, kill, partial(Recovery, name, limit, wake_s))


def _kills(bench: Bench, times: int) -> Iterator[tuple[str, Callable[[], Killed]]]:
    for _ in range(times):
        yield "agent in mid-call", bench.kill_agent
        yield "Scheduler with a reply in hand", bench.kill_scheduler_with_reply
        yield "Scheduler with a start in hand", bench.kill_scheduler_with_start


def _measured(
    bench: Bench, kill: Callable[[], Killed], recovery: Callable[[float, float, float], Recovery]
) -> Recovery | Spoiled:
    try:
        return recovery(*bench.seconds_after(kill()))
    except Spoiled as spoiled:
        return spoiled


def recovery_table(found: Sequence[Recovery]) -> Table:
    """Each kind of kill at each complete-by: medians, and the least and the most until the end."""
    columns = ("killed", "complete-by", "woken every", "noticed", "called again", "order's end", "least to most")
    shown = table("seconds from kill -9 to the order's end", *columns, boxed=True)
    for key in dict.fromkeys((one.killed, one.complete_by_s, one.wake_s) for one in found):
        group = [one for one in found if (one.killed, one.complete_by_s, one.wake_s) == key]
        times = list(zip(*((one.noticed_s, one.again_s, one.end_s) for one in group), strict=True))
        medians = [f"{median(each):.1f}" for each in times]
        span = f"{min(times[-1]):.1f} to {max(times[-1]):.1f}"
        shown.add_row(key[0], f"{key[1]:g} s", f"{key[2]:g} s", *medians, span)
    return shown


def run(console: Console, complete_by_s: Sequence[float], wake_s: Sequence[float], times: int) -> None:
    """Measure, show, and write `recovery.json`."""
    all_found: list[Recovery | Spoiled] = []
    machine = Machine.here()
    with console.status("recovery") as status:
        for period in wake_s:
            all_found += recoveries(complete_by_s, period, times, status.update)
    found = [one for one in all_found if isinstance(one, Recovery)]
    console.print(recovery_table(found))
    console.print(str(machine), highlight=False)
    for spoiled in (one for one in all_found if isinstance(one, Spoiled)):
        console.print(f"left out: {spoiled}", highlight=False)
    results = Project.here().root / "build" / "bench"
    results.mkdir(parents=True, exist_ok=True)
    document = {"machine": asdict(machine), "measured": [asdict(one) for one in found]}
    (results / "recovery.json").write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.benchmarks.recovery", description=__doc__)
    parser.add_argument("--complete-by", type=float, nargs="+", default=[1.0, 2.0, 5.0], metavar="SECONDS")
    parser.add_argument("--wake", type=float, nargs="+", default=[1.0], metavar="SECONDS")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    run(Console(), options.complete_by, options.wake, options.times)


if __name__ == "__main__":
    main()
