"""What somebody has to know, summed up in two metrics, so that two alarms are enough to hear of all of it.

Each amount is in percent: 100 of it within five minutes raises the alarm.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

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
_PARTS = {
    HistoryKind.UNCOUNTED: ENOUGH // UNCOUNTED_IN_FIVE_MINUTES,
    HistoryKind.CAME_BACK: ENOUGH // _BATCHES_COMING_BACK,
}


def attention(entry: HistoryEntry) -> Mapping[str, int]:
    """What a history entry adds to `Tells` and to `Wakes`, where it adds anything."""
    if entry.kind is HistoryKind.NOT_UNDERSTOOD and entry.value >= NOT_UNDERSTOOD_AGE_MS:
        return {"Wakes": ENOUGH}
    return _of_kind(entry.kind)


def attention_of(figures: Swept) -> Mapping[str, int]:
    """What a sweep adds."""
    return {"Wakes": ENOUGH} if figures.oldest >= OVERDUE_AGE_MS else {}


@cache
def _of_kind(kind: HistoryKind) -> Mapping[str, int]:
    tells = ENOUGH if TELLS in kind.marks else 0
    wakes = ENOUGH if WAKES in kind.marks else _PARTS.get(kind, 0)
    return {name: amount for name, amount in (("Tells", tells), ("Wakes", wakes)) if amount}
