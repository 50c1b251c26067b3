"""What a soak tells at its end: its samples, and what grew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table

from tests.lab.soak.growth import Limit, Trend, trend
from tests.lab.soak.sampling import TABLES, Sample

NOISE = Limit(share=0.5, beside=15)
"""Of messages and due tasks: those that one death holds back for a while."""
MORE_MEMORY = Limit(share=0.1, beside=5)
MORE_ROWS = Limit(share=0.05, beside=0.1)
"""Of rows per order; orders on their way have not all of theirs."""
MOST_LINES = 12
Measure = Callable[[Sample], float]


def findings(samples: Sequence[Sample]) -> Iterator[str]:
    """What grew, as lines."""
    for name, found in _trends(samples).items():
        if found.grew:
            yield f"{name} grew from {found.earlier:.4g} to {found.later:.4g}"


def samples_table(samples: Sequence[Sample]) -> Table:
    """The samples, thinned out to a readable number."""
    shown = Table(title="soak", title_justify="left")
    for name in ("s", "orders", "queued", "due", "rows/order", "functions", "MB", "cloud MB"):
        shown.add_column(name, justify="right")
    every = -(-len(samples) // MOST_LINES) or 1
    for sample in samples[::-1][::every][::-1]:
        shown.add_row(*_cells(sample))
    return shown


def trends_table(samples: Sequence[Sample]) -> Table:
    """Each measure in the earlier and in the later half of the run, the first third left out, and what is allowed."""
    shown = Table(title="medians of both halves, warm-up left out", title_justify="left")
    shown.add_column("measure")
    for name in ("earlier", "later", "at most"):
        shown.add_column(name, justify="right")
    for name, found in _trends(samples).items():
        style = "red" if found.grew else ""
        shown.add_row(name, f"{found.earlier:.2f}", f"{found.later:.2f}", f"{found.most:.2f}", style=style)
    shown.add_row("the emulator itself, KB an order (not judged: it keeps all in memory)", "", _kept(samples), "")
    return shown


def _trends(samples: Sequence[Sample]) -> Mapping[str, Trend]:
    return {
        name: trend([measure(sample) for sample in samples], limit) for name, (measure, limit) in _measures().items()
    }


def _measures() -> Mapping[str, tuple[Measure, Limit]]:
    def rows(name: str) -> Measure:
        return lambda sample: sample.rows_per_order(name)

    return {
        "messages in all queues": (lambda sample: sample.waiting, NOISE),
        "tasks in the due index": (lambda sample: sample.due["tasks"], NOISE),
        "lanes in the due index": (lambda sample: sample.due["lanes"], NOISE),
        "MB of the largest function process": (lambda sample: sample.worker_mb, MORE_MEMORY),
        **{f"rows per order in {name}": (rows(name), MORE_ROWS) for name in TABLES},
    }


def _cells(sample: Sample) -> Iterator[str]:
    yield from (f"{sample.at:.0f}", str(sample.orders), str(sample.waiting), str(sum(sample.due.values())))
    yield f"{sum(sample.rows_per_order(name) for name in TABLES):.2f}"
    yield from (str(sample.workers), f"{sample.worker_mb:.0f}", f"{sample.cloud_mb:.0f}")


def _kept(samples: Sequence[Sample]) -> str:
    if len(samples) < 2 or samples[-1].orders == samples[0].orders:
        return ""
    more = samples[-1].cloud_mb - samples[0].cloud_mb
    return f"{more * 1024 / (samples[-1].orders - samples[0].orders):.0f}"
