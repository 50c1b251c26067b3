"""Tries every crash point of every path and prints what survived; ends with 1 if anything did not."""

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Column, Table

from stepward.testing.faults.enumeration import Tally, at_call, total
from stepward.testing.faults.path import Path, run
from stepward.testing.faults.pulse import Point
from tests.lab.crash_points.paths import PATHS
from tests.lab.results import errors, out

FIGURES = ("calls", "points", "pairs", "survived", "lost")
KNOWN = ", ".join(PATHS)


def main(
    path: Annotated[list[str] | None, typer.Option(help=f"only this path; may be repeated: {KNOWN}")] = None,
    at: Annotated[str, typer.Option(help="print one run of one path: '12 dies before, 30 fails'")] = "",
    pairs: Annotated[str, typer.Option(help="pairs of deaths: none, short (of the short paths), all")] = "short",
    workers: Annotated[int, typer.Option(help="processes to work in")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="the figures as JSON")] = False,
) -> None:
    """Die before and after every port call of every path, and see that the audit holds."""
    if unknown := set(path or ()) - set(PATHS):
        raise typer.BadParameter(f"no path {', '.join(sorted(unknown))}; there are: {KNOWN}")
    chosen = [PATHS[name] for name in path or PATHS]
    if at:
        made = run(chosen[0], *map(Point.of, at.split(",")))
        errors.print(made.report, soft_wrap=True, markup=False)
        raise typer.Exit(bool(made.faults))
    found = _try(chosen, pairs, workers)
    _print(found, as_json=as_json)
    raise typer.Exit(any(each.lost for each in found))


def _try(paths: Sequence[Path], pairs: str, workers: int) -> list[Tally]:
    calls = {path.name: run(path).calls for path in paths}
    tasks = [
        (path.name, call, pairs == "all" or (pairs == "short" and path.is_short))
        for path in paths
        for call in range(1, calls[path.name] + 1)
    ]
    parts: dict[str, list[Tally]] = {path.name: [] for path in paths}
    with ProcessPoolExecutor(workers) as pool:
        for part in track(pool.map(_at_call, tasks), total=len(tasks), console=errors, transient=True):
            parts[part.path].append(part)
    return [total(name, calls[name], done) for name, done in parts.items()]


def _at_call(task: tuple[str, int, bool]) -> Tally:
    name, call, with_pairs = task
    return at_call(PATHS[name], call, with_pairs=with_pairs)


def _print(found: Sequence[Tally], *, as_json: bool) -> None:
    for made in (made for each in found for made in each.failed):
        errors.print(made.report, soft_wrap=True, markup=False)
        points = ", ".join(map(str, made.points))
        errors.print(f"again: make crash-points OPTIONS=\"--path '{made.path}' --at '{points}'\"", markup=False)
    if as_json:
        typer.echo(json.dumps([{"path": each.path, **_figures(each)} for each in found]))
        return
    shown = Table("path", "what happens", *(Column(name, justify="right") for name in FIGURES), title="Crash points")
    for each in found:
        shown.add_row(each.path, PATHS[each.path].what, *(f"{figure:,}" for figure in _figures(each).values()))
    shown.add_section()
    shown.add_row("all", "", *(f"{sum(getattr(each, name) for each in found):,}" for name in FIGURES))
    out.print(shown)


def _figures(each: Tally) -> dict[str, int]:
    return {name: getattr(each, name) for name in FIGURES}


if __name__ == "__main__":
    typer.run(main)
