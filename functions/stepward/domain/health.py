"""What is measured beside single facts: how the agents' services are doing, and what a sweep found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Health:
    """How the service of `agent` is doing, seen by one process at one moment.

    `in_flight` requests are worked on side by side; `breaker` is 0 closed, 1 half-open, 2 open, 3 paused.
    """

    agent: str
    in_flight: int
    breaker: int


@dataclass(frozen=True, slots=True)
class Called(Health):
    """The same right after a call, which took `took` milliseconds."""

    took: int
    succeeded: bool


@dataclass(frozen=True, slots=True)
class Swept:
    """What one run of the Supervisor found: tasks and lanes listed as due, steps overdue, the oldest's age in ms.

    `swept` shards were looked through to their end, `skipped` ones were held by another Supervisor; `complete` says
    that no shard of its own was left early.
    """

    listed: int = 0
    overdue: int = 0
    oldest: int = 0
    complete: bool = True
    swept: int = 0
    skipped: int = 0
