"""The ledger processor: walks a ledger entry by entry and sends each to the lane of its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from stepward.app.ledger.walk import Fault, WalkedEntry, steps
from stepward.app.optimistic import SharedValue
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Conflict, Corrupt, Rejected, RetryLater
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.rejects import Reject
from stepward.ports import LaneQueue, Ledgers, Rejects, SharedRecords, Telemetry
from stepward.wire.checked_text import cleaned
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.order_event import Source

CHUNK = 500
"""Entries that are sent before the progress is noted; whoever dies sends so many again at most."""
TIME_TO_FINISH = 10_000
"""Milliseconds in which a chunk can be sent and noted."""
LONGEST_REJECT = 300_000


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
    """Splits ledgers into the lanes of their orders, each from where it was left.

    What was sent and not noted is sent again under the same name, and the lanes know it. `customer` is the only one
    whose ledgers come here, if there is only one.
    """

    lanes: LaneQueue
    ledgers: Ledgers
    shared_records: SharedRecords
    rejects: Rejects
    telemetry: Telemetry
    sources: Sequence[Source]
    now: Callable[[], int]
    customer: str = ""

    def handle(self, text: str, remaining: Callable[[], int]) -> None:
        """Send every entry of the ledger in `text`, for as long as `remaining` (ms) allows.

        Raises Rejected, Transient, or RetryLater if the rest is for another run.
        """
        ledger = decode_ledger(text)
        if isinstance(ledger, Ignored):
            self.telemetry.record("", HistoryEntry(self.now(), HistoryKind.IGNORED, note=ledger.what))
            return
        if self.customer and ledger.customer_id != self.customer:
            raise Rejected("customerId", f"is {ledger.customer_id!r}; only {self.customer!r} has its ledgers here")
        walk = self._begun(ledger)
        if walk.progress.done:
            self.telemetry.record(
                "", HistoryEntry(self.now(), HistoryKind.DUPLICATE, note=f"ledger {ledger.ledger_id}")
            )
            return
        for chunk in walk.chunks(self.ledgers, self.sources):
            self._send(walk, chunk)
            walk.go_to(chunk[-1])
            if len(chunk) == CHUNK:
                walk.note()
                if remaining() < TIME_TO_FINISH:
                    raise RetryLater(0, f"ledger {ledger.ledger_id} goes on at its entry {walk.progress.index}")
        walk.finish()
        note = f"{walk.progress.index:,} entries of ledger {ledger.ledger_id}"
        self.telemetry.record("", HistoryEntry(self.now(), HistoryKind.SPLIT, by=ledger.customer_id, note=note))

    def _begun(self, ledger: Ledger) -> _Walk:
        """The walk through the ledger as far as it has come; raises Rejected if another ledger had its id."""
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
        """Keep what belongs to no order, then send the rest, each order's entries in their order."""
        for step in chunk:
            if isinstance(step.entry, Fault):
                walk.note_beginning()
                self._keep(walk, step.index, step.entry)
        self.lanes.send([step.entry for step in chunk if isinstance(step.entry, LaneMessage)])

    def _keep(self, walk: _Walk, index: int, fault: Fault) -> None:
        reject = Reject(
            message_id=f"{walk.ledger.ledger_id}/{index}",
            source=f"ledger of {walk.ledger.customer_id}",
            received_at=walk.progress.begun_at,
            field=fault.field,
            reason=fault.reason,
            body=cleaned(fault.text, LONGEST_REJECT),
        )
        self.rejects.keep(reject)
        note = f"entry {index} of ledger {walk.ledger.ledger_id}: {fault.field}: {fault.reason}"
        self.telemetry.record("", HistoryEntry(self.now(), HistoryKind.REJECTED, by=walk.ledger.customer_id, note=note))


@dataclass(slots=True)
class _Walk:
    """A ledger on its way, and the record of how far it has come."""

    ledger: Ledger
    record: SharedValue[Progress | None]
    progress: Progress

    def chunks(self, ledgers: Ledgers, sources: Sequence[Source]) -> Iterator[list[WalkedEntry]]:
        """What is left, in pieces of at most so many entries."""
        progress = self.progress
        left = steps(self.ledger, ledgers, progress.version, progress.index, progress.offset, sources)
        while chunk := list(islice(left, CHUNK)):
            yield chunk

    def go_to(self, step: WalkedEntry) -> None:
        """The step and all before it are sent."""
        self.progress = replace(self.progress, index=step.index + 1, offset=step.after)

    def finish(self) -> None:
        """All is sent."""
        self.progress = replace(self.progress, done=True)
        self.note()

    def note_beginning(self) -> None:
        """Note when it was begun, unless that stands already: what is rejected is named by that time."""
        if self.record.known is None:
            self.note()

    def note(self) -> None:
        """Note the progress; raises Conflict if another instance walks the same ledger."""
        if not self.record.write(self.progress):
            raise Conflict(f"{self.record.name}: another instance walks it; the message will come again")


def progress_of(shared_records: SharedRecords, customer_id: str, ledger_id: str) -> Progress | None:
    """How far a ledger has been walked; None if it was never begun. Raises Transient or Unreadable."""
    return _record(shared_records, customer_id, ledger_id).read()


def _record(shared_records: SharedRecords, customer_id: str, ledger_id: str) -> SharedValue[Progress | None]:
    return SharedValue(shared_records, f"ledger/{customer_id}/{ledger_id}", _progress, _body)


def _body(progress: Progress | None) -> Mapping[str, Any]:
    return asdict(progress) if progress else {}


def _progress(shared_record: SharedRecord | None) -> Progress | None:
    if shared_record is None:
        return None
    try:
        return Progress(**shared_record.body)
    except TypeError as error:
        raise Corrupt(f"{shared_record.name}: {error!r}") from error
