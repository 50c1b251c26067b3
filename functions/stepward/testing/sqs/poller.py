"""Stands in for Lambda's event source mapping: takes a batch from a queue, calls the handler, deletes what is done.

It reads the handler's answer as Lambda does, with `ReportBatchItemFailures` by default. Several receives may make one
batch. If a function fails, its messages come again after their visibility timeout.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stepward.testing.sqs.lambda_events import LambdaContext, event_of, failed_ids
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.rules import Refused

_MOST_PER_RECEIVE = 10
_NOTHING_FAILED: dict[str, list[object]] = {"batchItemFailures": []}


class Source(Protocol):
    """A queue that a poller can read; `MemoryQueue` and `SqsSource` are two."""

    @property
    def arn(self) -> str:
        """The name that events carry."""

    def receive(self, most: int) -> Sequence[Received]:
        """Up to `most` messages, at most 10, without waiting for any."""

    def delete(self, handle: str) -> None:
        """Delete the message of this handle; raises Refused if the queue refuses."""


@dataclass(frozen=True, slots=True)
class Polled:
    """The result of one poll: the bodies that were deleted, those that stayed, and the error of the handler."""

    done: tuple[str, ...] = ()
    stayed: tuple[str, ...] = ()
    error: Exception | None = None

    @property
    def received(self) -> int:
        """How many messages the handler got."""
        return len(self.done) + len(self.stayed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Poller:
    """Feeds one handler from one queue; `timeout` is the function's, in seconds, `clock` epoch milliseconds."""

    source: Source
    handler: Callable[[dict[str, Any], Any], Any]
    clock: Callable[[], int]
    batch_size: int = 10
    reports_failures: bool = True
    timeout: int = 30
    function_name: str = "function"

    def poll(self) -> Polled:
        """Take one batch and have it handled; the handler is not called for an empty queue."""
        batch = self._batch()
        if not batch:
            return Polled()
        failed, error = self._invoke(batch)
        done: list[str] = []
        stayed: list[str] = []
        for message in batch:
            deleted = failed is not None and message.message_id not in failed and self._deleted(message)
            (done if deleted else stayed).append(message.body)
        return Polled(tuple(done), tuple(stayed), error)

    def drain(self, most_polls: int = 1000) -> list[Polled]:
        """Poll until nothing can be received; RuntimeError after `most_polls`, as a handler may feed its own queue."""
        polls: list[Polled] = []
        while (polled := self.poll()).received:
            polls.append(polled)
            if len(polls) == most_polls:
                raise RuntimeError(f"{self.source.arn} still gives messages after {most_polls} batches")
        return polls

    def _batch(self) -> list[Received]:
        batch: list[Received] = []
        while room := self.batch_size - len(batch):
            more = self.source.receive(min(_MOST_PER_RECEIVE, room))
            if not more:
                break
            batch.extend(more)
        return batch

    def _invoke(self, batch: Sequence[Received]) -> tuple[set[str] | None, Exception | None]:
        event, context = event_of(batch, self.source.arn), self._context(batch)
        try:
            answer = self.handler(event, context)
            if answer != _NOTHING_FAILED:
                # Through JSON, as in Lambda: an answer that JSON cannot hold is a failed invocation.
                answer = json.loads(json.dumps(answer))
        except Exception as error:  # noqa: BLE001 - whatever a function raises, Lambda takes as its failure
            return None, error
        ids = {message.message_id for message in batch}
        return (failed_ids(answer, ids) if self.reports_failures else set()), None

    def _context(self, batch: Sequence[Received]) -> LambdaContext:
        name = hashlib.md5(batch[0].handle.encode(), usedforsecurity=False).hexdigest()
        request_id = f"{name[:8]}-{name[8:12]}-4{name[13:16]}-8{name[17:20]}-{name[20:]}"
        return LambdaContext(self.function_name, request_id, self.clock() + self.timeout * 1000, self.clock)

    def _deleted(self, message: Received) -> bool:
        try:
            self.source.delete(message.handle)
        except Refused:
            return False
        return True
