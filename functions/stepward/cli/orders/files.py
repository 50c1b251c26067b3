"""Reads order messages from files: a JSON object, an array of them, or one after another, each byte for byte."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stepward.cli.text_files import check_text, readable
from stepward.cli.user_error import UserError
from stepward.domain.errors import Rejected
from stepward.domain.key import Keys
from stepward.wire.order import accept

STDIN = Path("-")
_BLANK = re.compile(r"[ \t\r\n]*")
# Only the end of each message matters here, so that numbers of any length stay text.
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


@dataclass(frozen=True, slots=True)
class Written:
    """A message in a file; `position` is the file's name and the line."""

    position: str
    body: str

    def fault(self, keys: Keys) -> Rejected | None:
        """Why the application with these keys would reject it; None if that depends on its own message classes."""
        try:
            accept(self.body, keys=keys)
        except Rejected as fault:
            return fault
        return None


def read(file: Path) -> list[Written]:
    """The messages in `file`, `-` for standard input; raises UserError with file and line."""
    name = "standard input" if file == STDIN else str(file)
    with readable(name):
        raw = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
    check_text([raw], name)
    text = raw.decode("utf-8-sig")
    try:
        spans = list(_spans(text))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}; nothing was sent"
        ) from error
    except RecursionError as error:
        raise UserError(f"{name} is nested too deeply to be read") from error
    if not spans:
        raise UserError(f"{name} holds no order message; write one into it, or several, one after another")
    return [Written(f"{name}, line {text.count(chr(10), 0, start) + 1}", text[start:end]) for start, end in spans]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The start and the end of each message."""
    values = list(_sequence(text, 0, len(text)))
    if len(values) == 1 and text[values[0][0]] == "[":
        start, end = values[0]
        yield from _sequence(text, start + 1, end - 1, between=",")
    else:
        yield from values


def _sequence(text: str, at: int, end: int, between: str = "") -> Iterator[tuple[int, int]]:
    at = _skipped(text, at)
    while at < end:
        _, stop = _SCANNER.raw_decode(text, at)
        yield at, stop
        at = _skipped(text, stop)
        if between and at < end:
            at = _skipped(text, at + len(between))


def _skipped(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
