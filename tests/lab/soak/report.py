"""What a soak shows at its end: its samples, and which measures grew."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from statistics import median

from rich.table import Table

from tests.lab.results import table
from tests.lab.soak.sampling import TABLES, Sample

WARM_UP = 3
"""The first third of a run does not count: functions start, and queues and tables fill."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How much a measure may rise: by a share of its earlier value, and by an absolute number."""

    share: float
    absolute: float


NOISE = Limit(share=0.5, absolute=15)
"""Of messages and due tasks: one kill delays some of them."""
MORE_MEMORY = Limit(share=0.1, absolute=5)
MORE_ROWS = Limit(share=0.05, absolute=0.1)
"""Of rows per order: orders that have not ended lack some of theirs."""
MOST_LINES = 12
MEASURES: Mapping[str, tuple[Callable[[Sample], float], Limit]] = {
    "messages in all queues": (lambda sample: sample.waiting, NOISE),
    "tasks in the due index": (lambda sample: sample.due["tasks"], NOISE),
    "lanes in the due index": (lambda sample: sample.due["lanes"], NOISE),
    "MB of the largest function process": (lambda sample: sample.worker_mb, MORE_MEMORY),
    **{f"rows per order in {name}": (methodcaller("rows_per_order", name), MORE_ROWS) for name in TABLES},
}


@dataclass(frozen=True, slots=True)
class Trend:
    """The medians of a measure in both halves of a run, and the highest later one that is allowed."""

    earlier: float
    later: float
    most: float

    @property
    def grew(self) -> bool:
        return self.later > self.most


def trend(series: Sequence[float], limit: Limit) -> Trend:
    """The trend after the warm-up; too few values never grow."""
    counted = series[len(series) // WARM_UP :]
    earlier, later = counted[: len(counted) // 2], counted[len(counted) // 2 :]
    if not earlier:
        return Trend(0, 0, 0)
    before = median(earlier)
    return Trend(before, median(later), before * (1 + limit.share) + limit.absolute)


def findings(samples: Sequence[Sample]) -> Iterator[str]:
    """Every measure that grew, as a line."""
    for name, found in _trends(samples).items():
        if found.grew:
            yield f"{name} grew from {found.earlier:.4g} to {found.later:.4g}"


def samples_table(samples: Sequence[Sample]) -> Table:
    """Every nth sample, so that at most MOST_LINES are shown."""
    every = -(-len(samples) // MOST_LINES) or 1
    columns = ("s", "orders", "queued", "due", "rows/order", "functions", "MB", "cloud MB")
    shown = table("soak", *columns, rows=map(_cells, samples[::-1][::every][::-1]))
    shown.columns[0].justify = "right"
    return shown


def trends_table(samples: Sequence[Sample]) -> Table:
    """Each measure in the earlier and in the later half of the run, without its first third, and what is allowed."""
    shown = table("medians of both halves, warm-up left out", "measure", "earlier", "later", "at most")
    for name, found in _trends(samples).items():
        style = "red" if found.grew else ""
        shown.add_row(name, f"{found.earlier:.2f}", f"{found.later:.2f}", f"{found.most:.2f}", style=style)
    shown.add_row("the emulator itself, KB an order (not judged: all is in memory)", "", _cloud_growth(samples), "")
    return shown


def _trends(samples: Sequence[Sample]) -> Mapping[str, Trend]:
    return {name: trend([of(sample) for sample in samples], limit) for name, (of, limit) in MEASURES.items()}


def _cells(sample: Sample) -> Sequence[str]:
    rows = sum(map(sample.rows_per_order, TABLES))
    begun = [f"{sample.at:.0f}", *map(str, (sample.orders, sample.waiting, sum(sample.due.values())))]
    return [*begun, f"{rows:.2f}", str(sample.workers), f"{sample.worker_mb:.0f}", f"{sample.cloud_mb:.0f}"]


def _cloud_growth(samples: Sequence[Sample]) -> str:
    if len(samples) < 2 or samples[-1].orders == samples[0].orders:
        return ""
    more = samples[-1].cloud_mb - samples[0].cloud_mb
    return f"{more * 1024 / (samples[-1].orders - samples[0].orders):.0f}"
