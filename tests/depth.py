"""How far the instruments go: `make lab` sets LAB and goes all the way, `make test` takes a sample of each."""

import os
from collections.abc import Sequence
from typing import TypeVar

IN_LAB = bool(os.environ.get("LAB"))

T = TypeVar("T")


def depth(whole: int, sample: int) -> int:
    """How many to try."""
    return whole if IN_LAB else sample


def some(whole: Sequence[T], every: int) -> Sequence[T]:
    """All of them in the lab, else one in so many."""
    return whole if IN_LAB else whole[::every]
