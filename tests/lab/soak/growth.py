"""Whether a measure grew during a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

WARM_UP = 3
"""The first third of a run does not count: functions start, and queues and tables fill."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How much a measure may rise: by a share of its earlier value, and by an absolute number."""

    share: float
    absolute: float


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
