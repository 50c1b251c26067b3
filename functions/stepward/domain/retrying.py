"""How long an agent waits between two calls of its service, as a value; nothing here sleeps."""

from __future__ import annotations

FIRST_WAIT = 200
LONGEST_WAIT = 5_000


def next_wait(tries: int, jitter: float) -> int:
    """Milliseconds to wait after `tries` earlier waits: doubling, capped, its upper half scaled by `jitter` (0-1)."""
    ceiling = min(LONGEST_WAIT, FIRST_WAIT << min(tries, 10))
    return round(ceiling * (0.5 + jitter / 2))
