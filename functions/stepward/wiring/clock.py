"""The one place that reads the clock and makes unique names."""

from __future__ import annotations

import os
import time


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """A name that no other write or instance has."""
    return os.urandom(6).hex()
