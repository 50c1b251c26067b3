"""How far the instruments go: `make lab` sets LAB and goes all the way, `make test` takes a sample of each."""

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

IN_LAB = bool(os.environ.get("LAB"))

T = TypeVar("T")


def depth(whole: int, sample: int) -> int:
    """How many to try."""
    return whole if IN_LAB else sample


def some(whole: Sequence[T], every: int) -> Sequence[T]:
    """All of them in the lab, else one in so many."""
    return whole if IN_LAB else whole[::every]


def machine(whole: int, sample: int, steps: int, deep: int) -> settings:
    """How a Hypothesis machine runs: the same each time, unless HYPOTHESIS_PROFILE is deep."""
    quick = settings(
        max_examples=depth(whole, sample),
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    if os.environ.get("HYPOTHESIS_PROFILE") != "deep":
        return quick
    return settings(quick, max_examples=deep, stateful_step_count=60, derandomize=False, print_blob=True)
