"""`python -m tests.lab.worlds`: many worlds, one after another, on as many processes as one wants."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

from stepward.testing.seeded.finding import Finding, shortest
from tests.lab.worlds.cast import live, report

AT_ONCE = 20
MOST_TOLD = 3
Figures = Counter[str]


def main() -> int:
    """Run the worlds that the command line asks for; 1 if any of them broke."""
    asked = _arguments()
    seeds = [asked.seed] if asked.seed is not None else range(asked.start, asked.start + asked.seeds)
    began, figures, findings = time.monotonic(), Figures(), list[Finding]()
    for done, (some_figures, some_findings) in enumerate(_lived(seeds, asked.workers), 1):
        figures += some_figures
        findings += some_findings
        for finding in some_findings[: max(0, MOST_TOLD - len(findings) + len(some_findings))]:
            _say("\n".join(report(shortest(finding))))
        if done % 25 == 0:
            _say(f"{figures['worlds']:,} of {len(seeds):,} worlds, {len(findings)} broken")
    _summarise(figures, findings, time.monotonic() - began)
    return 1 if findings else 0


def some(seeds: Iterable[int]) -> tuple[Figures, list[Finding]]:
    """Live through the worlds of these seeds."""
    figures, findings = Figures(), list[Finding]()
    for seed in seeds:
        world, finding = live(seed)
        figures += world.diary.counts + Figures({"worlds": 1, "steps": world.gate.loop.steps})
        findings += [finding] if finding else []
    return figures, findings


def _lived(seeds: range | list[int], workers: int) -> Iterator[tuple[Figures, list[Finding]]]:
    batches = [seeds[start : start + AT_ONCE] for start in range(0, len(seeds), AT_ONCE)]
    if workers == 1 or len(batches) == 1:
        yield from map(some, batches)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(some, batches)


def _summarise(figures: Figures, findings: list[Finding], seconds: float) -> None:
    rate = figures["worlds"] / max(seconds, 0.001) * 60
    _say(f"\n{figures['worlds']:,} worlds in {seconds:.0f} s, {rate:.0f} a minute")
    for name, count in sorted(figures.items(), key=lambda each: -each[1]):
        _say(f"  {count:>12,}  {name}")
    broken = ", ".join(str(finding.seed) for finding in findings)
    _say(f"{len(findings)} broken: seeds {broken}" if findings else "no invariant broke")


def _arguments() -> Namespace:
    parser = ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many worlds")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this one world only")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a command's output


if __name__ == "__main__":
    sys.exit(main())
