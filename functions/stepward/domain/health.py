"""What is measured beside history entries: the health of the agents' services, and what a sweep found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Health:
    """The health of the service of `agent`, as one process sees it at one moment.

    `in_flight` requests are being served; `breaker` is 0 closed, 1 half-open, 2 open, 3 paused.
    """

    agent: str
    in_flight: int
    breaker: int


@dataclass(frozen=True, slots=True)
class Called(Health):
    """The health right after a call of `took` milliseconds."""

    took: int
    succeeded: bool


@dataclass(frozen=True, slots=True)
class Swept:
    """What one run of the Supervisor found: tasks and lanes listed as due, steps overdue, the oldest's age in ms.

    `swept` shards were swept to their end, `skipped` ones were held by another Supervisor; `complete` is False if the
    Supervisor left a shard early.
    """

    listed: int = 0
    overdue: int = 0
    oldest: int = 0
    complete: bool = True
    swept: int = 0
    skipped: int = 0
