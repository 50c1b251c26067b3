"""How long an agent, or a step, waits before its next try, as a value; nothing here sleeps."""

from __future__ import annotations

FIRST_WAIT = 200
LONGEST_WAIT = 5_000
FIRST_ABSENCE = 5_000
LONGEST_ABSENCE = 900_000


def next_wait(tries: int, jitter: float) -> int:
    """Milliseconds to wait after `tries` earlier waits: doubling, capped, its upper half scaled by `jitter` (0-1)."""
    ceiling = min(LONGEST_WAIT, FIRST_WAIT << min(tries, 10))
    return round(ceiling * (0.5 + jitter / 2))


def absence(age: int, jitter: float) -> int:
    """Milliseconds until a request is tried again after its calls have failed; they grow with its age."""
    ceiling = min(LONGEST_ABSENCE, max(FIRST_ABSENCE, age // 2))
    return round(ceiling * (0.5 + jitter / 2))


def least_absence(age: int) -> int:
    """The least milliseconds until a request comes back, so that it returns to its queue fewer than 1,000 times."""
    return max(1_000, age // 50)


FIRST_PAUSE = 40
LONGEST_PAUSE = 100


def pause(losses: int, jitter: float) -> int:
    """Milliseconds until whoever lost so many writes of one record tries again: any moment up to a growing limit."""
    return round(min(LONGEST_PAUSE, FIRST_PAUSE << min(losses - 1, 10)) * jitter)


FIRST_BACKOFF = 1_000
LONGEST_BACKOFF = 300_000


def backoff(failures: int, spread: float) -> int:
    """Milliseconds until a step is claimed again after its `failures`-th attempt ran past complete-by; `spread` is 0-1.

    None after the first: the service has had all of complete-by to recover, and most often only its agent died.
    """
    if failures <= 1:
        return 0
    ceiling = min(LONGEST_BACKOFF, FIRST_BACKOFF << min(failures - 2, 20))
    return round(ceiling * (0.5 + spread / 2))
