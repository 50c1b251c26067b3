"""Answers a batch of SQS records one by one: failed ones come back, the others are deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict

from stepward.adapters.lambda_.record import LONGEST_BACKOFF_S, SqsRecord, records_of
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Act, Intake
from stepward.domain.errors import Misconfigured, RetryLater, StepwardError, Transient

MOST_AT_ONCE = 10
"""The most threads of a function: one for each record of a full batch."""
SENT_ANEW_AFTER = 20
"""Receives after which a message that fails for now is sent anew: after an hour, far from its queue's limit."""
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
    """Hands the records of a batch to `intake`; `together` runs them side by side, each in a thread.

    `visibility` hides a record that is to be retried later. `outbox` sends the records' messages when they are done; a
    record whose messages cannot be sent comes back. No invocation affects the next.

    A record that is `lasting` outlasts any outage: one that fails for now is hidden for a growing time, and sent anew
    before its receives are used up. Only a process that has survived its message does so: a message that ends the
    process each time, or meets a fault of the code, uses up its receives and ends in the dead-letter queue.
    """

    intake: Intake
    telemetry: PowertoolsTelemetry
    together: bool = False
    visibility: SqsVisibility | None = None
    outbox: Outbox | None = None
    lasting: bool = False
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(MOST_AT_ONCE), init=False)
    """Started when first needed, and reused: between two invocations they wait, frozen with the process."""

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int]) -> BatchAnswer:
        """Work on every record of `event`, however much time is left; the answer names those that failed.

        Raises Rejected if it is no event of SQS.
        """
        records = records_of(event)
        acts = self.intake.accepting([record.message for record in records], remaining)
        work = self._side_by_side if self.together and len(records) > 1 else self._one_by_one
        failed = list(work(records, acts))
        self.telemetry.flush()
        return answered(failed)

    def _one_by_one(self, records: Sequence[SqsRecord], acts: Sequence[Act]) -> Iterator[str]:
        work = zip(records, acts, strict=True)
        yield from [record.message_id for record, act in work if not self._accept(record, act)]
        yield from self._not_sent(records)

    def _side_by_side(self, records: Sequence[SqsRecord], acts: Sequence[Act]) -> Iterator[str]:
        """Sends what is done while other records are at work: an answer must not wait for a slow neighbour."""
        work = zip(records, acts, strict=True)
        accepted = {self.threads.submit(self._accept, record, act): record.message_id for record, act in work}
        working = set(accepted)
        try:
            while working:
                _, working = wait(working, return_when=FIRST_COMPLETED)
                _, working = wait(working, timeout=LINGER_S)
                yield from self._not_sent(records)
        finally:
            wait(accepted)  # whatever happens, no thread is at work when the invocation ends
        yield from [name for done, name in accepted.items() if not done.result()]

    def _accept(self, record: SqsRecord, act: Act) -> bool:
        try:
            with self._collecting(record):
                act()
        except Exception as error:  # noqa: BLE001 - whatever one record raises, it alone comes back
            return self._failed(record, error)
        return True

    def _failed(self, record: SqsRecord, error: Exception) -> bool:
        """Have the record come back; whether this receive of it is done all the same, because it was sent anew."""
        if not isinstance(error, RetryLater):
            self.telemetry.returned(record.message_id, error)
        if self.lasting and isinstance(error, Transient | Misconfigured):
            return self._comes_back(record, error.seconds if isinstance(error, RetryLater) else record.backoff)
        if isinstance(error, RetryLater):
            self._hide(record, error.seconds)
        return False

    def _comes_back(self, record: SqsRecord, seconds: int) -> bool:
        if record.receives < SENT_ANEW_AFTER or self.visibility is None:
            self._hide(record, seconds)
            return False
        try:
            self.visibility.send_anew(record.queue, record.message.body, min(seconds, LONGEST_BACKOFF_S))
        except StepwardError as error:
            self.telemetry.returned(record.message_id, error)
            self._hide(record, seconds)
            return False
        return True

    @contextmanager
    def _collecting(self, record: SqsRecord) -> Iterator[None]:
        if self.outbox is None:
            yield
            return
        with self.outbox.on_behalf_of(record.message_id):
            yield

    def _not_sent(self, records: Sequence[SqsRecord]) -> Sequence[str]:
        """Send what the outbox has collected; the ids of the records whose messages could not be sent."""
        failed = self.outbox.flush() if self.outbox else {}
        unsent = [record for record in records if record.message_id in failed]
        return [record.message_id for record in unsent if not self._failed(record, failed[record.message_id])]

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
