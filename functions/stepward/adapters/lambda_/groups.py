"""Answers a batch of a FIFO queue: each message group in order, and no message past one that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from stepward.adapters.lambda_.batch import BatchAnswer, answered
from stepward.adapters.lambda_.record import SqsRecord, often_received, records_of
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Received
from stepward.domain.errors import RetryLater, StepwardError


class Take(Protocol):
    """A use case that takes the messages of one group."""

    def __call__(self, messages: Sequence[Received], remaining: Callable[[], int], /) -> Iterator[int]:
        """Take them in order, and yield how many are done so far; raises at the first that has to come back."""


@dataclass(frozen=True, slots=True)
class GroupWorker:
    """Hands each group of a batch to `take`; `together` runs the groups side by side, each in a thread.

    The first message that fails comes back, with all that follow in its group: the queue would delete what the answer
    does not name. `visibility` hides them for a time that grows with each failure. No invocation affects the next.
    """

    take: Take
    telemetry: PowertoolsTelemetry
    visibility: SqsVisibility | None = None
    together: bool = False

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int]) -> BatchAnswer:
        """Work on every group of `event`, with `remaining` milliseconds to the end of the invocation.

        Raises Rejected if it is no event of SQS.
        """
        records = records_of(event)
        self.telemetry.came_back(often_received(records))
        groups = _groups(records)
        if self.together and len(groups) > 1:
            with ThreadPoolExecutor(max_workers=len(groups)) as threads:
                failed = list(threads.map(lambda group: self._work(group, remaining), groups))
        else:
            failed = [self._work(group, remaining) for group in groups]
        self.telemetry.flush()
        return answered(record.message_id for group in failed for record in group)

    def _work(self, group: Sequence[SqsRecord], remaining: Callable[[], int]) -> Sequence[SqsRecord]:
        """Work on one group; the records that have to come back."""
        done = 0
        try:
            for done in self.take([record.message for record in group], remaining):  # noqa: B007 - used below
                pass
        except Exception as error:  # noqa: BLE001 - whatever stops one group must not stop the others
            stayed = group[done:]
            self.telemetry.returned(stayed[0].message_id, error)
            self._hide(stayed, error.seconds if isinstance(error, RetryLater) else stayed[0].backoff)
            return stayed
        return ()

    def _hide(self, records: Sequence[SqsRecord], seconds: int) -> None:
        """Hide all of them, last first: one in flight holds up its group, and the first must not come back alone.

        If that fails, they come back after the queue's own visibility timeout.
        """
        if self.visibility is None:
            return
        try:
            for record in reversed(records):
                self.visibility.hide(record.queue, record.receipt_handle, seconds)
        except StepwardError as error:
            self.telemetry.returned(records[0].message_id, error)


def _groups(records: Sequence[SqsRecord]) -> list[list[SqsRecord]]:
    """The records by message group, each in its order."""
    groups: dict[str, list[SqsRecord]] = {}
    for record in records:
        groups.setdefault(record.group or record.message_id, []).append(record)
    return list(groups.values())
