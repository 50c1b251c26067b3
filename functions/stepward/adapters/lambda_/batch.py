"""Answers a batch of SQS records one by one: failed ones come back, the others are deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict

from stepward.adapters.lambda_.record import SqsRecord
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.domain.errors import RetryLater, StepwardError

MOST_AT_ONCE = 10
"""The most threads of a function: one for each record of a full batch."""
LINGER_S = 0.02
"""How long messages that are ready wait for those of their neighbours, to share a call."""


class ItemFailure(TypedDict):
    """One message that must come back."""

    itemIdentifier: str


class BatchAnswer(TypedDict):
    """What Lambda understands as a partial failure; anything else would bring back or delete the whole batch."""

    batchItemFailures: list[ItemFailure]


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """Hands each record of a batch to `intake`; `together` runs them side by side, each in a thread.

    `visibility` hides a record that is to be retried later. `outbox` sends the records' messages when they are done; a
    record whose messages cannot be sent comes back. No invocation affects the next.
    """

    intake: Intake
    telemetry: PowertoolsTelemetry
    together: bool = False
    visibility: SqsVisibility | None = None
    outbox: Outbox | None = None
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(MOST_AT_ONCE), init=False)
    """Started when first needed, and reused: between two invocations they wait, frozen with the process."""

    def answer(self, event: Mapping[str, Any], _remaining: Callable[[], int] | None = None) -> BatchAnswer:
        """Work on every record of `event`, however much time is left; the answer names those that failed."""
        records = [SqsRecord(raw) for raw in event["Records"]]
        work = self._side_by_side if self.together and len(records) > 1 else self._one_by_one
        failed = list(work(records))
        self.telemetry.flush()
        return answered(failed)

    def _one_by_one(self, records: Sequence[SqsRecord]) -> Iterator[str]:
        yield from [record.message_id for record in records if not self._accept(record)]
        yield from self._not_sent()

    def _side_by_side(self, records: Sequence[SqsRecord]) -> Iterator[str]:
        """Sends what is done while other records are at work: an answer must not wait for a slow neighbour."""
        accepted = {self.threads.submit(self._accept, record): record.message_id for record in records}
        working = set(accepted)
        try:
            while working:
                _, working = wait(working, return_when=FIRST_COMPLETED)
                _, working = wait(working, timeout=LINGER_S)
                yield from self._not_sent()
        finally:
            wait(accepted)  # whatever happens, no thread is at work when the invocation ends
        yield from [name for done, name in accepted.items() if not done.result()]

    def _accept(self, record: SqsRecord) -> bool:
        try:
            with self._collecting(record):
                self.intake.accept(record.message)
        except RetryLater as retry_later:
            self._hide(record, retry_later.seconds)
            return False
        except Exception as error:  # noqa: BLE001 - whatever one record raises, it alone comes back
            self.telemetry.returned(record.message_id, error)
            return False
        return True

    @contextmanager
    def _collecting(self, record: SqsRecord) -> Iterator[None]:
        if self.outbox is None:
            yield
            return
        with self.outbox.on_behalf_of(record.message_id):
            yield

    def _not_sent(self) -> Sequence[str]:
        """Send what the outbox has collected; the ids of the records whose messages could not be sent."""
        failed = self.outbox.flush() if self.outbox else {}
        for name, error in failed.items():
            self.telemetry.returned(name, error)
        return list(failed)

    def _hide(self, record: SqsRecord, seconds: int) -> None:
        """Hide the record if possible; if not, it comes back after the queue's own visibility timeout."""
        if self.visibility is None:
            return
        try:
            self.visibility.hide(record.queue, record.receipt_handle, seconds)
        except StepwardError as error:
            self.telemetry.returned(record.message_id, error)


def answered(failed: Iterable[str]) -> BatchAnswer:
    """The answer that brings back exactly these messages; it names each once."""
    return {"batchItemFailures": [{"itemIdentifier": name} for name in dict.fromkeys(failed)]}
