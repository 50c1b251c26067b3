"""`python -m tests.lab.worlds`: many worlds, one after another, on as many processes as one wants."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated

import typer

from stepward.testing.seeded.finding import Finding, shortest
from tests.lab.worlds.cast import live, report

AT_ONCE = 20
MOST_PRINTED = 3
Figures = Counter[str]


def main(
    seeds: Annotated[int, typer.Option(help="how many worlds")] = 1_000,
    start: Annotated[int, typer.Option(help="the first seed")] = 0,
    seed: Annotated[int | None, typer.Option(help="this one world only")] = None,
    workers: Annotated[int, typer.Option(help="how many processes")] = 1,
) -> None:
    """Run many worlds, one after another; exit with 1 if any of them breaks."""
    chosen = range(start, start + seeds) if seed is None else range(seed, seed + 1)
    began, figures, findings = time.monotonic(), Figures(), list[Finding]()
    for done, (some_figures, some_findings) in enumerate(_run(chosen, workers), 1):
        figures += some_figures
        for finding in some_findings[: max(0, MOST_PRINTED - len(findings))]:
            typer.echo("\n".join(report(shortest(finding))))
        findings += some_findings
        if done % 25 == 0:
            typer.echo(f"{figures['worlds']:,} of {len(chosen):,} worlds, {len(findings)} broken")
    _summarise(figures, findings, time.monotonic() - began)
    raise typer.Exit(bool(findings))


def some(seeds: Iterable[int]) -> tuple[Figures, list[Finding]]:
    figures, findings = Figures(), list[Finding]()
    for seed in seeds:
        world, finding = live(seed)
        figures += world.diary.counts + Figures({"worlds": 1, "steps": world.gate.loop.steps})
        findings += [finding] if finding else []
    return figures, findings


def _run(seeds: range, workers: int) -> Iterator[tuple[Figures, list[Finding]]]:
    batches = [seeds[start : start + AT_ONCE] for start in range(0, len(seeds), AT_ONCE)]
    if workers == 1 or len(batches) == 1:
        yield from map(some, batches)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(some, batches)


def _summarise(figures: Figures, findings: list[Finding], seconds: float) -> None:
    rate = figures["worlds"] / max(seconds, 0.001) * 60
    typer.echo(f"\n{figures['worlds']:,} worlds in {seconds:.0f} s, {rate:.0f} a minute")
    for name, count in sorted(figures.items(), key=lambda each: -each[1]):
        typer.echo(f"  {count:>12,}  {name}")
    broken = ", ".join(str(finding.seed) for finding in findings)
    typer.echo(f"{len(findings)} broken: seeds {broken}" if findings else "no invariant broke")


if __name__ == "__main__":
    typer.run(main)
