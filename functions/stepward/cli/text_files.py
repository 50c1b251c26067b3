"""Opens a file that a person wants to send: text in UTF-8 or nothing."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stepward.cli.user_error import UserError
from stepward.wire.beginnings import ENOUGH, other_than_text

PIECE = 256 * 1024


@contextmanager
def readable(name: object) -> Iterator[None]:
    """Raises UserError if the file cannot be read."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror}") from error


def check_text(pieces: Iterable[bytes], name: object) -> None:
    """Raise UserError, with what to do, unless all of a file is text in UTF-8."""
    decoder, done = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for piece in pieces:
            if not done and (other := other_than_text(piece[:ENOUGH])):
                raise UserError(f"{name} is {other}; nothing was sent")
            pending = len(decoder.getstate()[0])
            decoder.decode(piece)
            done += len(piece)
        pending = len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = done - pending + error.start
        raise UserError(f"{name} is not UTF-8 text (at byte {at}); save it as UTF-8; nothing was sent") from error


def pieces_of(path: Path, start: int = 0) -> Iterator[bytes]:
    """The file from a byte on; raises OSError."""
    with path.open("rb") as source:
        source.seek(start)
        while piece := source.read(PIECE):
            yield piece
