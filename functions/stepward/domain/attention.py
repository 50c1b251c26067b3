"""What somebody has to know, summed up in two metrics, so that two alarms are enough to hear of all of it.

Each amount is in percent: 100 of it within five minutes raises the alarm.
"""

from __future__ import annotations

from collections.abc import Mapping

from stepward.domain.health import Swept
from stepward.domain.history import TELLS, WAKES, HistoryEntry, HistoryKind

ENOUGH = 100
OVERDUE_AGE_MS = 300_000
NOT_UNDERSTOOD_AGE_MS = 300_000
"""A deployment updates all functions within a few minutes."""
UNCOUNTED_IN_FIVE_MINUTES = 100
"""So many steps that no agent took are an outage."""
RECEIVES = 10
"""A message that was received so often has failed for ten minutes, or has ended its process for half an hour."""
_BATCHES_COMING_BACK = 5
"""So many in five minutes are more than one bad message, which comes back once in that time."""
FIFO_IN_FLIGHT = 100_000
"""SQS takes 120,000 hidden messages, then gives out no others, and says nothing."""


def attention(entry: HistoryEntry) -> Mapping[str, int]:
    """What a history entry adds to `Tells` and to `Wakes`, where it adds anything."""
    told = ENOUGH if TELLS in entry.kind.marks else 0
    return _amounts(told, _wakes(entry))


def attention_of(figures: Swept) -> Mapping[str, int]:
    """What a sweep adds."""
    return _amounts(0, ENOUGH if figures.oldest >= OVERDUE_AGE_MS else 0)


def _wakes(entry: HistoryEntry) -> int:
    match entry.kind:
        case HistoryKind.UNCOUNTED:
            return ENOUGH // UNCOUNTED_IN_FIVE_MINUTES
        case HistoryKind.CAME_BACK:
            return ENOUGH // _BATCHES_COMING_BACK
        case HistoryKind.NOT_UNDERSTOOD:
            return ENOUGH if entry.value >= NOT_UNDERSTOOD_AGE_MS else 0
    return ENOUGH if WAKES in entry.kind.marks else 0


def _amounts(tells: int, wakes: int) -> Mapping[str, int]:
    return {name: amount for name, amount in (("Tells", tells), ("Wakes", wakes)) if amount}
