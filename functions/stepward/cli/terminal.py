"""Prints to the terminal: text without control characters or markup, and JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from decimal import Decimal

from rich.console import Console
from rich.table import Table
from rich.text import Text

OUT = Console(markup=False, highlight=False, emoji=False)
"""Standard output: answers."""
ERR = Console(markup=False, highlight=False, emoji=False, stderr=True)
"""Standard error: errors and progress, so that answers can be piped."""
_EARLIEST, _LATEST = -62_135_424_000_000, 253_402_041_600_000
"""Epoch milliseconds: the third day of the calendar and the third last, so that local time stays in it."""


def shows_any_text() -> None:
    """Have the terminal show as its escape what its encoding lacks, instead of ending a command in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(text: str) -> str:
    """`text` with each character that is invisible, or that the terminal cannot show, written as its escape."""
    visible = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return visible.encode(OUT.encoding, "backslashreplace").decode(OUT.encoding)


def printable_lines(text: str) -> str:
    """The same, but keeps line ends, and expands tabs."""
    return "\n".join(printable(line.removesuffix("\r").expandtabs()) for line in text.split("\n"))


def cell(text: str, style: str = "") -> Text:
    """A table cell that shows `text` literally."""
    return Text(printable(text), style=style, overflow="fold")


def table(*columns: str) -> Table:
    """An empty table whose columns fold long texts."""
    empty = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        empty.add_column(column, overflow="fold")
    return empty


def say(text: str, style: str = "") -> None:
    """Print a few sentences without wrapping them, so that a command in them can be copied."""
    OUT.print(Text(printable_lines(text), style=style), soft_wrap=True)


def complain(text: str) -> None:
    """Print an error."""
    ERR.print(Text(f"stepward: {printable_lines(text)}"), soft_wrap=True)


def print_json(document: object) -> None:
    """Print a JSON document."""
    sys.stdout.write(json_text(document) + "\n")


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as JSON in ASCII, so that it contains no terminal control sequence."""
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
    """Epoch milliseconds as this machine's local time, as near as its calendar comes."""
    return datetime.fromtimestamp(min(max(at, _EARLIEST), _LATEST) / 1000, UTC).astimezone()


def day_and_time(at: int) -> str:
    """A point in time, to the second."""
    return f"{moment(at):%Y-%m-%d %H:%M:%S}"


def clock(at: int) -> str:
    """A time of day, to the millisecond."""
    return moment(at).strftime("%H:%M:%S.%f")[:-3]


def span(milliseconds: int) -> str:
    """A duration in its two largest units; negative if two clocks differ."""
    if milliseconds < 0:
        return f"-{span(-milliseconds)}"
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
