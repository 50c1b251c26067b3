"""The ledger processor: walks a ledger entry by entry and sends each to the lane of its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from stepward.app.intake import Received, keep
from stepward.app.ledger.walk import Fault, WalkedEntry, entries_from
from stepward.app.optimistic import SharedValue
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.coordination.shared_record import SharedRecord, read_as
from stepward.domain.errors import Conflict, Corrupt, Rejected, RetryLater, wrong_with
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import Keys
from stepward.domain.rejects import OF_LEDGER, Reject
from stepward.ports import LaneQueue, Ledgers, Rejects, SharedRecords, Telemetry
from stepward.wire.checked_text import cleaned
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.order_event import ledger_name
from stepward.wire.source import Source

CHUNK = 500
"""Entries that are sent before the progress is saved; after a death at most so many are sent again."""
TIME_TO_FINISH = 10_000
"""Milliseconds in which a chunk can be sent and its progress saved."""
LONGEST_REJECT = 1_048_576
"""As long as a message can be, so nothing that came in one is cut."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a ledger has been walked since `begun_at` (epoch ms).

    `index` is its next entry, `offset` where that begins in the object, whose version is `version`.
    """

    digest: str
    version: str
    begun_at: int
    index: int = 0
    offset: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Splits ledgers into the lanes of their orders, and resumes each where it was left.

    An entry that was sent before its progress was saved is sent again under the same name, so its lane recognises it.
    `customer`, if not empty, is the only one whose ledgers are accepted.
    """

    lanes: LaneQueue
    ledgers: Ledgers
    shared_records: SharedRecords
    rejects: Rejects
    telemetry: Telemetry
    sources: Sequence[Source]
    keys: Keys
    now: Callable[[], int]
    customer: str = ""

    def take(self, messages: Sequence[Received], remaining: Callable[[], int]) -> Iterator[int]:
        """Split ledgers in their order, and yield after each how many are done; raises Transient at the first failure.

        A ledger that cannot be accepted is kept as a reject, and the next one follows.
        """
        for done, message in enumerate(messages, start=1):
            try:
                self.handle(message.body, remaining)
            except Rejected as error:
                keep(message, error, self.rejects, self.telemetry)
            yield done

    def handle(self, text: str, remaining: Callable[[], int]) -> None:
        """Send every entry of the ledger in `text`, for as long as `remaining` (ms) allows.

        Raises Rejected, Transient, or RetryLater if another run has to send the rest.
        """
        ledger = decode_ledger(text)
        if isinstance(ledger, Ignored):
            self._log(HistoryKind.IGNORED, "", ledger.what)
            return
        if self.customer and ledger.customer_id != self.customer:
            raise Rejected("customerId", f"is {ledger.customer_id!r}; only {self.customer!r} has its ledgers here")
        walk = self._begun(ledger)
        if walk.progress.done:
            self._log(HistoryKind.DUPLICATE, "", f"ledger {ledger.ledger_id}")
            return
        for chunk in walk.chunks(self.ledgers, self.sources, self.keys):
            self._send(walk, chunk)
            walk.go_past(chunk[-1])
            if len(chunk) == CHUNK:
                walk.save()
                if remaining() < TIME_TO_FINISH:
                    raise RetryLater(0, f"ledger {ledger.ledger_id} goes on at its entry {walk.progress.index}")
        walk.finish()
        note = f"{walk.progress.index:,} entries of ledger {ledger.ledger_id}"
        self._log(HistoryKind.SPLIT, ledger.customer_id, note)

    def _begun(self, ledger: Ledger) -> _Walk:
        """The walk through the ledger from where it was left; raises Rejected if another ledger had its id."""
        record = _record(self.shared_records, ledger.customer_id, ledger.ledger_id)
        found, version = record.read(), self._version(ledger)
        if found is None:
            return _Walk(ledger, record, Progress(ledger.digest, version, self.now()))
        if found.digest != ledger.digest:
            raise Rejected("ledgerId", f"{ledger.ledger_id!r} was sent before with other content")
        if found.version != version:
            raise Rejected("objectKey", f"the object {ledger.object_key!r} has changed since the ledger was begun")
        return _Walk(ledger, record, found)

    def _version(self, ledger: Ledger) -> str:
        if not ledger.object_key:
            return ""
        version = self.ledgers.version(ledger.object_key)
        if version is None:
            raise Rejected("objectKey", f"there is no object {ledger.object_key!r}")
        return version

    def _send(self, walk: _Walk, chunk: Sequence[WalkedEntry]) -> None:
        """Send the entries of each order in sequence, then keep those that belong to none as rejects.

        An order must not wait until a reject can be kept.
        """
        if any(isinstance(walked.entry, Fault) for walked in chunk):
            walk.save_beginning()
        self.lanes.send([walked.entry for walked in chunk if isinstance(walked.entry, LaneMessage)])
        for walked in chunk:
            if isinstance(walked.entry, Fault):
                self._keep(walk, walked.index, walked.entry)
            elif isinstance(walked.entry, Ignored):
                self._log(HistoryKind.IGNORED, walk.ledger.customer_id, walked.entry.what)

    def _keep(self, walk: _Walk, index: int, fault: Fault) -> None:
        reject = Reject(
            message_id=f"{walk.ledger.ledger_id}/{index}",
            source=f"{OF_LEDGER}{walk.ledger.customer_id}",
            received_at=walk.progress.begun_at,
            field=fault.field,
            reason=fault.reason,
            body=cleaned(fault.text, LONGEST_REJECT),
        )
        self.rejects.keep(reject)
        note = f"entry {index} of ledger {walk.ledger.ledger_id}: {fault.field}: {fault.reason}"
        self._log(HistoryKind.REJECTED, walk.ledger.customer_id, note)

    def _log(self, kind: HistoryKind, customer: str, note: str) -> None:
        self.telemetry.record("", HistoryEntry(self.now(), kind, by=customer, note=note))


@dataclass(slots=True)
class _Walk:
    """A ledger that is being walked, and the record of its progress."""

    ledger: Ledger
    record: SharedValue[Progress | None]
    progress: Progress

    def chunks(self, ledgers: Ledgers, sources: Sequence[Source], keys: Keys) -> Iterator[list[WalkedEntry]]:
        """The entries that are left, in chunks."""
        progress = self.progress
        left = entries_from(self.ledger, ledgers, progress.version, progress.index, progress.offset, sources, keys)
        while chunk := list(islice(left, CHUNK)):
            yield chunk

    def go_past(self, walked: WalkedEntry) -> None:
        """The entry and all before it are sent."""
        self.progress = replace(self.progress, index=walked.index + 1, offset=walked.after)

    def finish(self) -> None:
        """All is sent."""
        self.progress = replace(self.progress, done=True)
        self.save()

    def save_beginning(self) -> None:
        """Save when it was begun, unless that is known: its rejects are named by that time."""
        if self.record.known is None:
            self.save()

    def save(self) -> None:
        """Save the progress; raises Conflict if another instance walks the same ledger."""
        if not self.record.write(self.progress):
            raise Conflict(f"{self.record.name}: another instance walks it; the message will come again")


def progress_of(shared_records: SharedRecords, customer_id: str, ledger_id: str) -> Progress | None:
    """How far a ledger has been walked; None if it was never begun. Raises Transient or Corrupt."""
    return _record(shared_records, customer_id, ledger_id).read()


def _record(shared_records: SharedRecords, customer_id: str, ledger_id: str) -> SharedValue[Progress | None]:
    return SharedValue(shared_records, f"ledger/{ledger_name(customer_id, ledger_id)}", _progress, _body)


def _body(progress: Progress | None) -> Mapping[str, Any]:
    return asdict(progress) if progress else {}


def _progress(shared_record: SharedRecord | None) -> Progress | None:
    if shared_record is None:
        return None
    try:
        return Progress(**read_as(Progress, shared_record.body))
    except TypeError as error:
        raise Corrupt(f"{shared_record.name}: {wrong_with(error)}") from error
