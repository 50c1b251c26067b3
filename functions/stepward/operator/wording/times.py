"""Times and durations for people."""

from __future__ import annotations

from datetime import UTC, datetime

_EARLIEST, _LATEST = -62_135_424_000_000, 253_402_041_600_000
"""Epoch milliseconds: the third day of the calendar and the third last, so that local time stays in it."""


def moment(at: int) -> datetime:
    """Epoch milliseconds as this machine's local time, as near as its calendar comes."""
    return datetime.fromtimestamp(min(max(at, _EARLIEST), _LATEST) / 1000, UTC).astimezone()


def day_and_time(at: int) -> str:
    """A point in time, to the second."""
    return f"{moment(at):%Y-%m-%d %H:%M:%S}"


def clock(at: int) -> str:
    """A time of day, to the millisecond."""
    return moment(at).strftime("%H:%M:%S.%f")[:-3]


def span(milliseconds: int) -> str:
    """A duration in its two largest units, without the smaller one if that is 0; negative if two clocks differ."""
    if milliseconds < 0:
        return f"-{span(-milliseconds)}"
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    seconds = milliseconds // 1000
    for size, unit, smaller, below in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            rest = seconds % size // smaller
            return f"{seconds // size} {unit}" + (f" {rest} {below}" if rest else "")
    raise AssertionError(seconds)
