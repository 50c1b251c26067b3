"""Spans of time, as they read well in a workflow; and the waits that the engine itself chooses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

DAY_MS = 24 * 3600 * 1000
LONGEST_ORDER_MS = 731 * DAY_MS
"""How far ahead an order's complete-by may be: two years, so that a mistyped year is noticed."""


@dataclass(frozen=True, slots=True)
class Timing:
    """All in milliseconds.

    `claim_within`: how long a step may wait for its claim, and an alert to go out, before the Supervisor asks again.
    `skew_margin`: how far the clocks of two functions may differ; the Supervisor waits that much longer.
    `outage_after`: a step overdue for longer was missed by the whole platform, so its failure is not counted.
    `longest_delay`: how long a queue can hold a message back; the Supervisor ends a longer backoff.
    """

    claim_within: int = 60_000
    skew_margin: int = 5_000
    outage_after: int = 600_000
    longest_delay: int = 900_000


def seconds(count: float) -> timedelta:
    """`count` seconds, to read well in a workflow."""
    return timedelta(seconds=count)


def minutes(count: float) -> timedelta:
    """`count` minutes, to read well in a workflow."""
    return timedelta(minutes=count)


def hours(count: float) -> timedelta:
    """`count` hours, to read well in a workflow."""
    return timedelta(hours=count)


def days(count: float) -> timedelta:
    """`count` days of 24 hours, to read well in a workflow."""
    return timedelta(days=count)


def milliseconds(span: timedelta | None) -> int:
    """The span in whole milliseconds; 0 for none."""
    return round(span.total_seconds() * 1000) if span else 0
