"""Answers a batch of a FIFO queue: each message group in its order, and none past a message that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from stepward.adapters.lambda_.batch import BatchAnswer, answered
from stepward.adapters.lambda_.record import SqsRecord
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Received
from stepward.domain.errors import RetryLater, StepwardError

LONGEST_BACKOFF_S = 300
"""What failed comes back within this, however often. So an event that nobody can apply yet waits out days of an outage
before its queue gives it up, and every group goes on within minutes after it."""


class Take(Protocol):
    """A use case that takes the messages of one group."""

    def __call__(self, messages: Sequence[Received], remaining: Callable[[], int], /) -> Iterator[int]:
        """Take them in their order, and yield how many are done so far; raises at the first that has to come back."""


@dataclass(frozen=True, slots=True)
class GroupWorker:
    """Hands each group of a batch to `take`; `together` runs the groups side by side, each in a thread.

    The first message that fails comes back, and with it whatever follows in its group: the queue would take for done
    what is not named. `visibility` hides them for a while that grows with each failure. Nothing of one invocation
    reaches the next.
    """

    take: Take
    telemetry: PowertoolsTelemetry
    visibility: SqsVisibility | None = None
    together: bool = False

    def answer(self, event: Mapping[str, Any], remaining: Callable[[], int]) -> BatchAnswer:
        """Work on every group of `event`, with `remaining` milliseconds to the end of the invocation."""
        groups = _groups(event)
        if self.together and len(groups) > 1:
            with ThreadPoolExecutor(max_workers=len(groups)) as threads:
                failed = list(threads.map(lambda group: self._work(group, remaining), groups))
        else:
            failed = [self._work(group, remaining) for group in groups]
        self.telemetry.flush()
        return answered(record.message_id for group in failed for record in group)

    def _work(self, group: Sequence[SqsRecord], remaining: Callable[[], int]) -> Sequence[SqsRecord]:
        """Those of the group that have to come back."""
        done = 0
        try:
            for done in self.take([record.message for record in group], remaining):  # noqa: B007 - told below
                pass
        except Exception as error:  # noqa: BLE001 - whatever stops one group must not stop the others
            stayed = group[done:]
            self.telemetry.returned(stayed[0].message_id, error)
            self._hide(stayed, error.seconds if isinstance(error, RetryLater) else _rest(stayed[0]))
            return stayed
        return ()

    def _hide(self, records: Sequence[SqsRecord], seconds: int) -> None:
        """All of them, for one in flight holds up its group; the last first, for the first must not come alone.

        Without it they come back all the same, after the queue's own visibility timeout.
        """
        if self.visibility is None:
            return
        try:
            for record in reversed(records):
                self.visibility.hide(record.queue, record.receipt_handle, seconds)
        except StepwardError as error:
            self.telemetry.returned(records[0].message_id, error)


def _groups(event: Mapping[str, Any]) -> list[list[SqsRecord]]:
    """The records by message group, each in its order; raises KeyError if any cannot be named in an answer."""
    groups: dict[str, list[SqsRecord]] = {}
    for raw in event["Records"]:
        record = SqsRecord(raw)
        group = record.group or record.message_id
        groups.setdefault(group, []).append(record)
        raw["messageId"]
    return list(groups.values())


def _rest(record: SqsRecord) -> int:
    doubled = min(record.receives, 10) - 1
    return min(LONGEST_BACKOFF_S, 1 << doubled)
