"""Whether a measure grew in the course of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

WARM_UP = 3
"""One part in so many of a run does not count: functions start, and what comes first has nothing before it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How much more than before is still the same: a share of it, and so many beside."""

    share: float
    beside: float


@dataclass(frozen=True, slots=True)
class Trend:
    """Where a measure stood in the earlier and in the later half of a run, and how high is still the same."""

    earlier: float
    later: float
    most: float

    @property
    def grew(self) -> bool:
        """Whether it is more than before."""
        return self.later > self.most


def trend(series: Sequence[float], limit: Limit) -> Trend:
    """The medians of both halves, warm-up left out; of too few values, nothing that could grow."""
    counted = series[len(series) // WARM_UP :]
    earlier, later = counted[: len(counted) // 2], counted[len(counted) // 2 :]
    if not earlier:
        return Trend(0, 0, 0)
    before = median(earlier)
    return Trend(before, median(later), before * (1 + limit.share) + limit.beside)
