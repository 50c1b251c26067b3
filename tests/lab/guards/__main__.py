"""Switches every guard off, one at a time, and prints what misses it; ends with 1 if nothing does."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Column, Table

from tests.lab.guards.asking import NoAnswer, ask, missed_by
from tests.lab.guards.switch import Guard, NoSuchPosition, guards
from tests.lab.guards.worlds import Missed, missed_at_crash_points, missed_by_seeds, runs
from tests.lab.results import errors, out

MOST_TOLD = 60


@dataclass(frozen=True, slots=True)
class Found:
    """What misses a guard: a test and how long it took to say so (ms), a crash point, a world of the simulation.

    `trouble` says why the guard could not be switched off, or the test not be asked.
    """

    guard: str
    protects: str
    trouble: str
    test: str
    took: int
    point: Missed | None
    seed: Missed | None


def main(
    only: Annotated[list[str] | None, typer.Option(help="only guards with this in their name; may be repeated")] = None,
    points: Annotated[int, typer.Option(help="ask up to so many worlds with crash points as well")] = 200,
    seeds: Annotated[int, typer.Option(help="and up to so many worlds of the simulation")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="the findings as JSON")] = False,
) -> None:
    """See that every guard is needed."""
    chosen = [guard for guard in guards() if not only or any(part in guard.name for part in only)]
    found = _try(chosen, points, seeds)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found]))
    else:
        out.print(_table(found))
    unmissed = [each for each in found if not each.test]
    for each in unmissed:
        errors.print(f"{each.trouble or 'nothing misses it'}: {each.guard} ({each.protects})", markup=False)
    raise typer.Exit(bool(unmissed))


def _try(chosen: Sequence[Guard], points: int, seeds: int) -> list[Found]:
    # With all guards on every test passes; it also loads what would otherwise count as the first guard's time.
    ask(sorted({test for guard in chosen for test in guard.asks}))
    runs()
    return [_found(guard, points, seeds) for guard in track(chosen, console=errors, transient=True)]


def _found(guard: Guard, points: int, seeds: int) -> Found:
    begun = time.perf_counter_ns()
    try:
        test = missed_by(guard)
    except (NoSuchPosition, NoAnswer) as trouble:
        return Found(guard.name, guard.protects, str(trouble), "", 0, None, None)
    took = (time.perf_counter_ns() - begun) // 1_000_000
    worlds = missed_at_crash_points(guard, points), missed_by_seeds(guard, seeds)
    return Found(guard.name, guard.protects, "", test, took, *worlds)


def _table(found: Sequence[Found]) -> Table:
    figures = (Column(name, justify="right") for name in ("after", "crash points", "seeds"))
    table = Table("guard", "missed by", *figures, "what broke there", title="Guards, each switched off alone")
    for each in found:
        test = each.test.partition("::")[2].replace("_", " ") or "NOTHING"
        worlds = (each.point, each.seed)
        after = (f"{world.worlds:,}" if world else "-" for world in worlds)
        broke = "; ".join(dict.fromkeys(world.what[:MOST_TOLD] for world in worlds if world))
        table.add_row(each.guard, test, f"{each.took} ms", *after, broke)
    return table


if __name__ == "__main__":
    typer.run(main)
