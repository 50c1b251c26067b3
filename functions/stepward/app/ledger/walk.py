"""The walk through a ledger, entry by entry, from where it was left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.domain.key import ANY, Keys
from stepward.ports import Ledgers
from stepward.wire import strict_json
from stepward.wire.beginnings import as_lines
from stepward.wire.checked_text import BODY
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import LONGEST_LINE, Ledger, entry_in, entry_of
from stepward.wire.source import Source


@dataclass(frozen=True, slots=True)
class Fault:
    """An entry that belongs to no order: what is wrong with it, and its text."""

    field: str
    reason: str
    text: str

    @property
    def is_foreign(self) -> bool:
        """Whether it may be an event in another format than ours, which a source of the application reads."""
        try:
            content = strict_json.parse_unchecked(self.text)
        except Rejected:
            return False
        return isinstance(content, dict) and not {"orderId", "op"} & content.keys()


@dataclass(frozen=True, slots=True)
class WalkedEntry:
    """The entry at `index`, or its fault; `after` is the offset of the next one in the ledger's object."""

    index: int
    after: int
    entry: LaneMessage | Ignored | Fault


def entries_from(
    ledger: Ledger,
    ledgers: Ledgers,
    version: str,
    index: int,
    offset: int,
    sources: Sequence[Source],
    keys: Keys = ANY,
) -> Iterator[WalkedEntry]:
    """The entries from `index` on; in an object, its line begins at `offset`.

    Raises Transient, or Rejected, before the first entry, for an object that is no file of lines.
    """
    if not ledger.object_key:
        for number in range(index, len(ledger.entries)):
            raw = ledger.entries[number]
            try:
                found: LaneMessage | Ignored | Fault = entry_of(ledger, number, raw, sources, keys)
            except Rejected as error:
                found = Fault(error.field, error.reason, strict_json.shown(raw))
            yield WalkedEntry(number, 0, found)
        return
    pieces = ledgers.read(ledger.object_key, version, offset)
    for number, line in enumerate(lines(pieces if offset else as_lines(pieces, ledger.object_key)), start=index):
        offset += line.length
        if line.text.strip():
            yield WalkedEntry(number, offset, _entry_in(ledger, number, line, sources, keys))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an object; `length` (bytes) includes its end, and a `text` that is too long is cut."""

    text: bytes
    length: int


def lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a text that comes in pieces; it holds one line and one piece at a time."""
    begun, length = b"", 0
    for piece in pieces:
        *complete, rest = piece.split(b"\n")
        for end in complete:
            yield Line(_joined(begun, end), length + len(end) + 1)
            begun, length = b"", 0
        begun, length = _joined(begun, rest), length + len(rest)
    if length:
        yield Line(begun, length)


def _joined(begun: bytes, more: bytes) -> bytes:
    return begun + more[: LONGEST_LINE + 1 - len(begun)]


def _entry_in(
    ledger: Ledger, index: int, line: Line, sources: Sequence[Source], keys: Keys
) -> LaneMessage | Ignored | Fault:
    text = line.text.decode(errors="replace")
    if len(line.text) > LONGEST_LINE:
        return Fault(BODY, f"line {index + 1} is {line.length:,} bytes; the limit is {LONGEST_LINE:,}", text)
    try:
        return entry_in(ledger, index, line.text, sources, keys)
    except Rejected as error:
        return Fault(error.field, error.reason, text)
