"""Recognises what a file is by its first bytes, so that what is no JSON text is refused before anything is sent."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Sequence

from stepward.domain.errors import Rejected
from stepward.wire import strict_json

BOM = codecs.BOM_UTF8
ENOUGH = 64 * 1024
"""Bytes that tell what a file is."""
LINES = "a ledger of lines has one JSON object per line, in UTF-8"
_BLANK = b" \t\r\n"
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK": "a zip archive or a spreadsheet",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"PAR1": "Parquet",
    b"\xd0\xcf\x11\xe0": "a document of an office program",
    b"%PDF": "PDF",
}


def other_than_text(beginning: bytes) -> str:
    """What a file is that begins so, and how to get its text; "" if it can be UTF-8."""
    for signature, name in _PACKED.items():
        if beginning.startswith(signature):
            return f"{name}; unpack it first, or save it as JSON in UTF-8"
    wide = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in beginning[:4]
    return "UTF-16 or UTF-32; save it as UTF-8" if wide else ""


def other_than_lines(beginning: bytes) -> str:
    """What a file is that begins so, if it does not hold one JSON object per line; "" if it can."""
    if other := other_than_text(beginning):
        return other
    content = beginning.removeprefix(BOM).strip(_BLANK)
    if not content:
        return f"empty; {LINES}" if len(beginning) < ENOUGH else ""
    if content.startswith(b"["):
        return f"one JSON array; {LINES}"
    if not content.startswith(b"{"):
        return f"no JSON: it begins with {content[:20].decode(errors='replace')!r}; {LINES}"
    lines = content.split(b"\n")
    return _other_than_an_object_each(lines, lines if len(beginning) < ENOUGH else lines[:-1])


def _other_than_an_object_each(lines: Sequence[bytes], whole: Sequence[bytes]) -> str:
    """The same of lines that begin with an object; `whole` are those that have been read to their ends."""
    first = lines[0].rstrip(_BLANK)
    if first.endswith(b",") and is_object(first[:-1]):
        return f"JSON objects with commas between them; {LINES}"
    if len(whole) > 1 and (_is_one_value(b"\n".join(whole)) or not any(map(is_object, whole))):
        return f"one JSON value over many lines; {LINES}"
    return ""


def _is_one_value(content: bytes) -> bool:
    """Whether these lines are one JSON value, or its beginning, though some may be whole objects by themselves."""
    text = content.decode(errors="replace").rstrip()
    try:
        json.loads(text, parse_int=str)  # so that no number is too long
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except RecursionError:
        return False
    return True


def is_object(line: bytes) -> bool:
    """Whether a line is a whole JSON object."""
    try:
        return isinstance(strict_json.parse_unchecked(line), dict)
    except Rejected:
        return False


def as_lines(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The pieces of an object of lines; raises Rejected, before the first one, if it is something else.

    Blanks replace a byte order mark, so that each line stays where it is.
    """
    left, beginning = iter(pieces), b""
    for piece in left:
        beginning += piece
        if len(beginning) >= ENOUGH:
            break
    if other := other_than_lines(beginning):
        raise Rejected("objectKey", f"the object {name!r} is {other}")
    yield beginning.replace(BOM, b" " * len(BOM), 1) if beginning.startswith(BOM) else beginning
    yield from left
