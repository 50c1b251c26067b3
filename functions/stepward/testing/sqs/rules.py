"""The limits of SQS, which the in-memory queues enforce."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stepward.domain.errors import StepwardError

MOST_ENTRIES = 10
MOST_BYTES = 1024 * 1024
LONGEST_DELAY_S = 900
LONGEST_VISIBILITY_S = 43_200
_ENTRY_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
_FIFO_ID = re.compile(r"[!-~]{1,128}")
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Refused(StepwardError):
    """SQS would answer the request with an error of this code; send a request that SQS accepts."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a batch as SQS takes it; `delay` is in seconds, None means the queue's own."""

    id: str
    body: str
    group: str = ""
    deduplication: str = ""
    delay: int | None = None


def check_batch(entries: Sequence[Entry]) -> None:
    """Refuse a batch that fails as a whole."""
    if not entries:
        raise Refused("EmptyBatchRequest", "a batch has at least one entry")
    if len(entries) > MOST_ENTRIES:
        raise Refused("TooManyEntriesInBatchRequest", f"{len(entries)} entries; a batch has at most {MOST_ENTRIES}")
    if len({entry.id for entry in entries}) < len(entries):
        raise Refused("BatchEntryIdsNotDistinct", "two entries have the same id")
    if not all(_ENTRY_ID.fullmatch(entry.id) for entry in entries):
        raise Refused("InvalidBatchEntryId", "an entry id is 1-80 letters, digits, '-' or '_'")
    if (size := sum(len(_bytes(entry.body)) for entry in entries)) > MOST_BYTES:
        raise Refused("BatchRequestTooLong", f"{size} bytes; a batch has at most {MOST_BYTES}")


def check_body(body: str, largest: int) -> None:
    """Refuse a body that is empty, larger than the queue allows, or holds a character that XML does not allow."""
    if not body:
        raise Refused("MissingParameter", "the body is empty")
    if (size := len(_bytes(body))) > largest:
        raise Refused("InvalidParameterValue", f"{size} bytes; a message of this queue has at most {largest}")
    if found := _FORBIDDEN.search(body):
        raise Refused("InvalidMessageContents", f"the body holds U+{ord(found[0]):04X}, which no message may")


def check_fifo_id(name: str, value: str) -> None:
    """Refuse a group or deduplication id that is missing or outside SQS's set."""
    if not value:
        raise Refused("MissingParameter", f"{name} is missing; a FIFO queue needs it")
    if not _FIFO_ID.fullmatch(value):
        raise Refused("InvalidParameterValue", f"{name} is not 1-128 ASCII letters, digits or punctuation")


def check_range(name: str, value: int, least: int, most: int) -> None:
    """Refuse a number outside its range."""
    if not least <= value <= most:
        raise Refused("InvalidParameterValue", f"{name}={value} is outside {least}-{most}")


def _bytes(body: str) -> bytes:
    return body.encode("utf-8", "surrogatepass")
