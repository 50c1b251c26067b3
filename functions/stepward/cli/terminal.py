"""What reaches a terminal: text without control characters or markup, and JSON for programs."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from decimal import Decimal

from rich.console import Console
from rich.text import Text

OUT = Console(markup=False, highlight=False, emoji=False)
"""Answers."""
ERR = Console(markup=False, highlight=False, emoji=False, stderr=True)
"""Faults and progress, so that answers can be piped."""


def printable(text: str) -> str:
    """`text` with each control, format or otherwise invisible character written as its escape."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def printable_lines(text: str) -> str:
    """The same, but line ends and tabs stay."""
    return "\n".join(printable(line.removesuffix("\r").expandtabs()) for line in text.split("\n"))


def cell(text: str, style: str = "") -> Text:
    """A part of a table that shows `text` literally."""
    return Text(printable(text), style=style, overflow="fold")


def say(text: str, style: str = "") -> None:
    """Print one sentence, or a few; what may be copied from it is never broken across lines."""
    OUT.print(Text(printable_lines(text), style=style), soft_wrap=True)


def complain(text: str) -> None:
    """Print a fault."""
    ERR.print(Text(f"stepward: {printable_lines(text)}"), soft_wrap=True)


def print_json(document: object) -> None:
    """Print a JSON document."""
    sys.stdout.write(json_text(document) + "\n")


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as JSON, in ASCII, so that nothing in it can steer a terminal."""
    return json.dumps(document, indent=indent, default=_number)


def print_raw(text: str) -> None:
    """Print `text` byte for byte into a file or a pipe; a terminal gets it without control characters."""
    if sys.stdout.isatty():
        say(text)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def moment(at: int) -> datetime:
    """Epoch milliseconds as this machine's local time."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone()


def day_and_time(at: int) -> str:
    """A point in time, to the second."""
    return f"{moment(at):%Y-%m-%d %H:%M:%S}"


def clock(at: int) -> str:
    """A time of day, to the millisecond."""
    return moment(at).strftime("%H:%M:%S.%f")[:-3]


def span(milliseconds: int) -> str:
    """A length of time, in the two units that matter."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    seconds = milliseconds // 1000
    for size, unit, smaller, below in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            return f"{seconds // size} {unit} {seconds % size // smaller} {below}"
    raise AssertionError(seconds)


def _number(value: object) -> int | float:
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return int(value) if value == value.to_integral_value() else float(value)
