"""How many single alerts people get in an outage; the rest come in one summary."""

from __future__ import annotations

from collections.abc import Sequence

MOST_SINGLES = 10
SPAN = 5 * 60_000


def admitted(times: Sequence[int], now: int) -> tuple[int, ...] | None:
    """The times of the latest single alerts with one more at `now` (epoch ms); None if it is one too many.

    There may be `MOST_SINGLES` in a `SPAN`. A time that is further ahead than that is ignored, so a clock that was once
    wrong silences nobody.
    """
    recent = tuple(time for time in times if abs(now - time) < SPAN)
    return None if len(recent) >= MOST_SINGLES else (*recent, now)
