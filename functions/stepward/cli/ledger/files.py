"""Reads ledgers from files, JSON or one entry per line, and checks them with the code that splits them later.

What a file holds is known by its content; its name does not count.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepward.app.ledger.walk import Fault, WalkedEntry, entries_from, lines
from stepward.cli.text_files import check_text, pieces_of, readable
from stepward.cli.user_error import UserError
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.wire import strict_json
from stepward.wire.beginnings import BOM, ENOUGH, LINES, other_than_lines
from stepward.wire.beginnings import as_lines as as_object_of_lines
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.order_event import stored_event

LARGEST_MESSAGE = 900_000
"""Bytes: SQS accepts a megabyte, and this leaves room for the envelope."""
MOST_FAULTS = 20
_ENTRIES = re.compile(rb'"entries"\s*:')


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A ledger in a file; `content` is the JSON ledger without its ids, None if the file holds one entry per line."""

    path: Path
    ledger_id: str
    customer_id: str
    content: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Survey:
    """The contents of a ledger: `faults` are the first entries that will stop their order's lane, or have no order."""

    entries: int = 0
    faulty: int = 0
    foreign: int = 0
    """Faulty entries that an adapter of the application may read."""
    orders: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def count(self, step: WalkedEntry) -> None:
        """Count one entry."""
        self.entries += 1
        fault = ""
        if isinstance(step.entry, Fault):
            fault = f"{step.entry.field}: {step.entry.reason}"
            self.foreign += step.entry.is_foreign
        elif isinstance(step.entry, LaneMessage):
            self.orders.add(step.entry.order_id)
            fault = stored_event(step.entry.body).fault
        if fault:
            self.faulty += 1
            self.faults = [*self.faults, f"entry {step.index}: {fault}"][:MOST_FAULTS]


def opened(path: Path, customer: str, ledger_id: str) -> LedgerFile:
    """The ledger in a file; raises UserError if it cannot be read, or names no customer."""
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    with readable(path):
        check_text(pieces_of(path), path)
        content = _content(path)
    said = content or {}
    own_id, own_customer = said.get("ledgerId"), said.get("customerId")
    for option, given, own in (("--customer", customer, own_customer), ("--ledger-id", ledger_id, own_id)):
        if given and own and given != own:
            raise UserError(f"{path} says {own!r}, but {option} says {given!r}; correct one of them")
    if not (owner := customer or own_customer):
        raise UserError(f"{path} names no customer; give --customer")
    # A ledger without an id gets the hash of its content: the same file is the same ledger, however often it is sent.
    named = ledger_id or own_id or _digest(path)
    _check({"ledgerId": named, "customerId": owner, "entries": [None]}, path)
    return LedgerFile(path, str(named), str(owner), content)


def surveyed(ledger: LedgerFile) -> Survey:
    """The contents of the ledger; raises UserError if nothing in it is valid."""
    survey = Survey()
    for step in _steps(ledger):
        survey.count(step)
    if not survey.entries:
        raise UserError(f"{ledger.path} holds no entry; {LINES}")
    if survey.faulty == survey.entries and not survey.foreign:
        raise UserError("\n".join([f"{ledger.path} is no ledger: none of its entries is valid:", *survey.faults]))
    return survey


def message_of(ledger: LedgerFile) -> str:
    """The ledger as one message; "" if it is too large, or an entry has no canonical JSON."""
    if ledger.path.stat().st_size > LARGEST_MESSAGE:
        return ""
    try:
        entries = ledger.content["entries"] if ledger.content is not None else list(_parsed_lines(ledger.path))
        body = strict_json.canonical({**(ledger.content or {}), **_ids(ledger), "entries": entries})
    except Rejected:
        return ""
    return body if len(body) <= LARGEST_MESSAGE else ""


def pointer_of(ledger: LedgerFile, key: str) -> str:
    """The message that points to the object `key`."""
    return strict_json.canonical({**_ids(ledger), "objectKey": key})


@contextmanager
def as_lines(ledger: LedgerFile) -> Iterator[tuple[Path, str]]:
    """The ledger as a file of lines, and the key of its object: a hash of the file."""
    if ledger.content is None:
        yield ledger.path, _key(ledger.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        with path.open("w") as target:
            for index, entry in enumerate(ledger.content["entries"]):
                target.write(_line(ledger, index, entry) + "\n")
        yield path, _key(path)


def _steps(ledger: LedgerFile) -> Iterator[WalkedEntry]:
    if ledger.content is None:
        walked = Ledger(ledger.ledger_id, ledger.customer_id, "", object_key=str(ledger.path))
        return entries_from(walked, _Files(), "", 0, 0, ())
    walked = Ledger(ledger.ledger_id, ledger.customer_id, "", tuple(ledger.content["entries"]))
    return entries_from(walked, _Files(), "", 0, 0, ())


@dataclass(frozen=True, slots=True)
class _Files:
    """The port `Ledgers` for files on this machine."""

    def version(self, key: str) -> str | None:
        """Files are read once, so they have no version; None if there is no file."""
        return "" if Path(key).is_file() else None

    def read(self, key: str, version: str, start: int) -> Iterator[bytes]:
        """The file in pieces."""
        del version
        return pieces_of(Path(key), start)


def _content(path: Path) -> dict[str, Any] | None:
    """The JSON ledger in a file; None if that holds one entry per line. Raises UserError."""
    beginning = next(pieces_of(path), b"")[:ENOUGH]
    first = beginning.removeprefix(BOM).lstrip().partition(b"\n")[0]
    if not other_than_lines(beginning) and not _ENTRIES.search(first):
        return None
    try:
        content = strict_json.parse_unchecked(path.read_bytes().removeprefix(BOM))
    except Rejected as fault:
        raise UserError(f"{path}: {fault.reason}; {LINES}") from fault
    if isinstance(content, list):
        content = {"entries": content}
    if not isinstance(content, dict) or not isinstance(content.get("entries"), list):
        raise UserError(f"{path} is no ledger: a JSON ledger is an object with entries; {LINES}")
    return content


def _check(content: Mapping[str, Any], path: Path) -> None:
    try:
        if isinstance(decode_ledger(strict_json.canonical(content)), Ignored):
            raise UserError(f"{path} is no ledger; {LINES}")
    except Rejected as fault:
        raise UserError(f"{path}: {fault}") from fault


def _parsed_lines(path: Path) -> Iterator[object]:
    for line in lines(as_object_of_lines(pieces_of(path), path.name)):
        if line.text.strip():
            yield strict_json.parse(line.text)


def _line(ledger: LedgerFile, index: int, entry: object) -> str:
    try:
        return strict_json.canonical(entry)
    except Rejected as fault:
        raise UserError(f"{ledger.path}: nothing was sent; correct entry {index} first: {fault}") from fault


def _ids(ledger: LedgerFile) -> dict[str, str]:
    return {"ledgerId": ledger.ledger_id, "customerId": ledger.customer_id}


def _key(path: Path) -> str:
    return f"ledgers/{_digest(path)}.jsonl"


def _digest(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()[:32]
