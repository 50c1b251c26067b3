"""Prints to the terminal: text without control characters or markup, and JSON for programs."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
from decimal import Decimal
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from stepward.cli.fitted import Fitted
from stepward.operator.wording import times

_PIPE = 1_000
_ARGUMENT, _LAST = r"(?:'[^']*'|\"[^\"]*\"|\S*[^\s.,;:)])(?= |$)", r"(?:'[^']*'|\"[^\"]*\"|\S+)"
_OURS = rf"(?:[\w./~-]*/)?stepward(?: {_ARGUMENT})*(?: {_LAST})?"
_CHUNK = re.compile(rf"(?:{_OURS}|make [a-z-]+(?: [A-Z]+=\S+)*|`[^`]*`)\S*|\S+")
"""What no line end may part: our commands up to the end of their clause, those of make, what is in backticks, words."""
OUT = Console(
    markup=False,
    highlight=False,
    emoji=False,
    width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE,
)
"""Standard output: answers. A pipe is as wide as any row, so that `grep` finds what stands in one."""
ERR = Console(markup=False, highlight=False, emoji=False, stderr=True)
"""Standard error: errors and progress, so that answers can be piped."""
table = Fitted
"""An empty table with these columns, and `least`, which a narrow terminal goes without, in turn."""
clock, day_and_time, moment, span = times.clock, times.day_and_time, times.moment, times.span


def shows_any_text() -> None:
    """Have the terminal show as its escape what its encoding lacks, instead of ending a command in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def typed(*words: str) -> str:
    """A `stepward` command of these words as it can be typed here, quoted for the shell.

    Where the shell finds no `stepward`, or another one, it begins with the path that was typed: `.venv/bin/stepward`.
    """
    path, found = Path(sys.argv[0]), shutil.which("stepward")
    is_elsewhere = path.name == "stepward" and path.exists() and not (found and path.samefile(found))
    return shlex.join([str(path) if is_elsewhere else "stepward", *words])


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


def say(text: str, style: str = "") -> None:
    """Print a few sentences; a terminal gets them wrapped, but each command whole, so that it can be copied."""
    _print(OUT, printable_lines(text), style)


def complain(text: str) -> None:
    """Print an error."""
    _print(ERR, f"stepward: {printable_lines(text)}")


def _print(console: Console, text: str, style: str = "") -> None:
    shown = wrapped(text, console.width) if console.is_terminal else text
    console.print(Text(shown, style=style), soft_wrap=True)


def wrapped(text: str, width: int) -> str:
    """`text` with its sentences wrapped at `width`; a command stays whole, and a line with columns as it is."""
    return "\n".join(line if line[:1] == " " or "  " in line else _filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    lines = [""]
    for chunk in _CHUNK.findall(line):
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(chunk) > width:
            lines.append(chunk)
        else:
            lines[-1] += f" {chunk}" if lines[-1] else chunk
    return "\n".join(lines)


def print_json(document: object) -> None:
    """Print a JSON document."""
    sys.stdout.write(json_text(document) + "\n")


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as JSON in ASCII, so that it contains no terminal control sequence."""
    return json.dumps(document, indent=indent, default=_number)


def print_raw(text: str) -> None:
    """Print `text` byte for byte into a file or a pipe; a terminal gets it without control characters."""
    if sys.stdout.isatty():
        OUT.print(Text(printable_lines(text)), soft_wrap=True)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def _number(value: object) -> int | float:
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return int(value) if value == value.to_integral_value() else float(value)
