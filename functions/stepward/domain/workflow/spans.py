"""Spans of time, as they read well in a workflow."""

from __future__ import annotations

from datetime import timedelta


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


def milliseconds(span: timedelta) -> int:
    """The span in whole milliseconds."""
    return round(span.total_seconds() * 1000)
