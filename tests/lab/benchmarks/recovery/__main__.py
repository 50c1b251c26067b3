"""How long an order takes to end after kill -9 of the process that worked on it, on the local cloud.

`python -m tests.lab.benchmarks.recovery [--complete-by 1 2 5] [--wake 1] [--times 3]`
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from rich.console import Console
from rich.table import Table

from tests.lab.benchmarks.recovery.kills import Spoiled, bench
from tests.lab.results import Machine, Progress, store, table


@dataclass(frozen=True, slots=True)
class Recovery:
    """One kill, and the seconds until the Supervisor noticed, the step was called again, and the order ended."""

    killed: str
    complete_by_s: float
    wake_s: float
    noticed_s: float
    again_s: float
    end_s: float
    started: str
    """The functions of which another process had to start meanwhile."""


def recoveries(limits: Sequence[float], wake_s: float, kills: int, progress: Progress) -> Iterator[Recovery | Spoiled]:
    """Kill `kills` agents and Schedulers for each complete-by, with a Supervisor that wakes every `wake_s` seconds."""
    for limit in limits:
        progress(f"complete-by {limit:g} s: deploying")
        with bench(limit) as victim, victim.scene.stage.supervised(wake_s):
            victim.warm_up()
            kinds = {
                "agent in mid-call": victim.kill_agent,
                "Scheduler with a reply": victim.kill_scheduler_with_reply,
                "Scheduler with a start": victim.kill_scheduler_with_start,
            }
            for number, (name, kill) in enumerate([*kinds.items()] * kills, start=1):
                progress(f"complete-by {limit:g} s: {name}, kill {number}")
                try:
                    killed = kill()
                    times = victim.seconds_after(killed)
                    yield Recovery(name, limit, wake_s, *times, victim.started_since(killed.at))
                except Spoiled as spoiled:
                    yield spoiled


def recovery_table(found: Sequence[Recovery]) -> Table:
    """Each kind of kill at each complete-by: medians, and the least and the most until the end."""
    groups: dict[tuple[str, float, float], list[Recovery]] = {}
    for one in found:
        groups.setdefault((one.killed, one.complete_by_s, one.wake_s), []).append(one)
    rows = []
    for (killed, limit, wake), group in groups.items():
        times = list(zip(*((one.noticed_s, one.again_s, one.end_s) for one in group), strict=True))
        span = f"{min(times[-1]):.1f} to {max(times[-1]):.1f}"
        rows.append([killed, f"{limit:g} s", f"{wake:g} s", *(f"{median(each):.1f}" for each in times), span])
    columns = ("killed", "limit", "wake", "noticed", "again", "ended", "least to most")
    return table("seconds from kill -9 until it was noticed, called again, and ended", *columns, rows=rows)


def main() -> None:
    """Read the command line, measure, show, and write `recovery.json`."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.benchmarks.recovery", description=__doc__)
    parser.add_argument("--complete-by", type=float, nargs="+", default=[1.0, 2.0, 5.0], metavar="SECONDS")
    parser.add_argument("--wake", type=float, nargs="+", default=[1.0], metavar="SECONDS")
    parser.add_argument("--times", type=int, default=3)
    options, console, machine = parser.parse_args(), Console(), Machine.here()
    tried: list[Recovery | Spoiled] = []
    with console.status("recovery") as status:
        for period in options.wake:
            tried += recoveries(options.complete_by, period, options.times, status.update)
    found = [one for one in tried if isinstance(one, Recovery)]
    console.print(recovery_table(found))
    for line in (machine, *(f"left out: {one}" for one in tried if isinstance(one, Spoiled))):
        console.print(str(line), highlight=False)
    store("recovery", {"machine": machine, "measured": found})


if __name__ == "__main__":
    main()
