"""Answers a batch of SQS records one by one: failed ones come back, the others are deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict

from stepward.adapters.lambda_.record import LONGEST_BACKOFF_S, SqsRecord, often_received, records_of
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Act, Intake
from stepward.app.optimistic import LEAST_TIME
from stepward.domain.errors import Misconfigured, RetryLater, StepwardError, Transient

MOST_AT_ONCE = 10
"""The most threads of a function: one for each record of a full batch."""
SENT_ANEW_AFTER = 20
"""Receives after which a message that fails for now is sent anew: after an hour, far from its queue's limit."""
TIME_TO_SEND = 5_000
"""Milliseconds that remain to send what the records ask for, and to give back those that were not begun."""
LINGER_S = 0.02
"""How long messages that are ready wait for those of their neighbours, to share a call."""


Work = tuple[SqsRecord, Act]
"""A record, and what handles it."""


class ItemFailure(TypedDict):
    """One message that must come back."""

    itemIdentifier: str


class BatchAnswer(TypedDict):
    """What Lambda understands as a partial failure; anything else would bring back or delete the whole batch."""

    batchItemFailures: list[ItemFailure]


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """Hands the records of a batch to `intake`; `together` runs them side by side, each in a thread.

    What `runs_alone`, by its text, has no neighbours: they go back first, so that it takes nobody along if it ends the
    process.

    `visibility` hides a record that is to be retried later. `outbox` sends the records' messages when they are done; a
    record whose messages cannot be sent comes back. No invocation affects the next.

    Without `together` it begins no record for which the time that is left is too short, by those before it, and gives
    the rest back: if it were cut off, all would come back, and what was written would wait for its due time.

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
    runs_alone: Callable[[str], bool] = lambda _: False
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(MOST_AT_ONCE), init=False)
    """Started when first needed, and reused: between two invocations they wait, frozen with the process."""

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int]) -> BatchAnswer:
        """Work on the records of `event`, with `remaining` milliseconds to the end; the answer names those that failed.

        Raises Rejected if it is no event of SQS.
        """
        records = records_of(event)
        if self.lasting:
            self.telemetry.came_back(often_received(records))
        if self.outbox is not None:
            self.outbox.discard()
        acts = self.intake.accepting([record.message for record in records], remaining)
        work = list(zip(records, acts, strict=True))
        together = self.together and len(records) > 1
        alone = [each for each in work if self.runs_alone(each[0].message.body)][:1] if together else []
        back = [record for record, _ in work if alone and record is not alone[0][0]]
        for record in back:
            self._hide(record, 0)
        failed = list(self._side_by_side(alone or work) if together else self._one_by_one(work, remaining))
        self.telemetry.flush()
        return answered([*(record.message_id for record in back), *failed])

    def _one_by_one(self, work: Sequence[Work], remaining: Callable[[], int]) -> Iterator[str]:
        begun = [(record.message_id, self._accept(record, act)) for record, act in _in_time(work, remaining)]
        yield from [name for name, done in begun if not done]
        yield from self._not_sent(work)
        for record, _ in work[len(begun) :]:
            # Unless there is time for that, the queue makes it visible later.
            if remaining() < LEAST_TIME or not self._failed(record, RetryLater(0, "the time of this run is up")):
                yield record.message_id

    def _side_by_side(self, work: Sequence[Work]) -> Iterator[str]:
        """Sends what is done while other records are at work: an answer must not wait for a slow neighbour."""
        accepted = {self.threads.submit(self._in_thread, record, act): record.message_id for record, act in work}
        working = set(accepted)
        try:
            while working:
                _, working = wait(working, return_when=FIRST_COMPLETED)
                _, working = wait(working, timeout=LINGER_S)
                yield from self._not_sent(work)
        finally:
            wait(accepted)  # whatever happens, no thread is at work when the invocation ends
        yield from [name for done, name in accepted.items() if not done.result()]

    def _in_thread(self, record: SqsRecord, act: Act) -> bool:
        try:
            return self._accept(record, act)
        except BaseException as error:  # noqa: BLE001 - such as what asyncio cancelled; it brings back no neighbour
            self.telemetry.returned(record.message_id, error)
            return False

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

    def _not_sent(self, work: Sequence[Work]) -> Sequence[str]:
        """Send what the outbox has collected; the ids of the records whose messages could not be sent."""
        failed = self.outbox.flush() if self.outbox else {}
        unsent = [record for record, _ in work if record.message_id in failed]
        return [record.message_id for record in unsent if not self._failed(record, failed[record.message_id])]

    def _hide(self, record: SqsRecord, seconds: int) -> None:
        """Hide the record if possible; if not, it comes back after the queue's own visibility timeout."""
        if self.visibility is None:
            return
        try:
            self.visibility.hide(record.queue, record.receipt_handle, seconds)
        except StepwardError as error:
            self.telemetry.returned(record.message_id, error)


def _in_time(work: Sequence[Work], remaining: Callable[[], int]) -> Iterator[Work]:
    """Each, until what is left would be too short for one that takes as long as the slowest so far."""
    slowest, left = 0, remaining() if len(work) > 1 else 0
    for position, each in enumerate(work, start=1):
        yield each
        if position < len(work):
            before, left = left, remaining()
            slowest = max(slowest, before - left)
            if left < TIME_TO_SEND + slowest:
                return


def answered(failed: Iterable[str]) -> BatchAnswer:
    """The answer that brings back exactly these messages; it names each once."""
    return {"batchItemFailures": [{"itemIdentifier": name} for name in dict.fromkeys(failed)]}
