"""Answers a batch of SQS records one by one: what failed comes back, what worked is deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypedDict

from aws_lambda_powertools.utilities.batch import (
    AsyncBatchProcessor,
    BatchProcessor,
    EventType,
    async_process_partial_response,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from stepward.adapters.sqs_visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake, Received
from stepward.domain.errors import PutBack, StepwardError


class ItemFailure(TypedDict):
    """One message that must come back."""

    itemIdentifier: str


class BatchAnswer(TypedDict):
    """What Lambda understands as a partial failure; anything else would bring back or delete the whole batch."""

    batchItemFailures: list[ItemFailure]


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """Hands each record of a batch to `intake`; `together` runs them side by side, each in a thread.

    `visibility` hides what is put back, in the queue that it came from. Each batch has its own processor, so nothing of
    one invocation reaches the next.
    """

    intake: Intake
    telemetry: PowertoolsTelemetry
    together: bool = False
    visibility: SqsVisibility | None = None

    def answer(self, event: Mapping[str, Any]) -> BatchAnswer:
        """Work on every record of `event`; only those that raised come back."""
        answer = self._side_by_side(event) if self.together else self._one_by_one(event)
        self.telemetry.flush()
        return answered(failure["itemIdentifier"] for failure in answer["batchItemFailures"])

    def _one_by_one(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        def handle(record: SQSRecord) -> None:
            self._accept(record)

        processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
        return process_partial_response(event=dict(event), record_handler=handle, processor=processor)

    def _side_by_side(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        processor = AsyncBatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
        with ThreadPoolExecutor(max_workers=max(len(event["Records"]), 1)) as threads:

            async def handle(record: SQSRecord) -> None:
                await asyncio.get_running_loop().run_in_executor(threads, self._accept, record)

            return async_process_partial_response(event=dict(event), record_handler=handle, processor=processor)

    def _accept(self, record: SQSRecord) -> None:
        try:
            self.intake.accept(_received(record))
        except PutBack as put_back:
            self._hide(record, put_back.seconds)
            raise
        except Exception as error:
            self.telemetry.returned(record.message_id, error)
            raise

    def _hide(self, record: SQSRecord, seconds: int) -> None:
        """Without it the message comes back all the same, after the queue's own visibility timeout."""
        if self.visibility is None:
            return
        try:
            self.visibility.hide(_queue(record), record.receipt_handle, seconds)
        except StepwardError as error:
            self.telemetry.returned(record.message_id, error)


def answered(failed: Iterable[str]) -> BatchAnswer:
    """The answer that brings back exactly these messages, each named once."""
    return {"batchItemFailures": [{"itemIdentifier": name} for name in dict.fromkeys(failed)]}


def _received(record: SQSRecord) -> Received:
    return Received(
        message_id=record.message_id,
        source=_queue(record),
        received_at=int(record.attributes.sent_timestamp or 0),
        body=record.body,
    )


def _queue(record: SQSRecord) -> str:
    return record.event_source_arn.rsplit(":", 1)[-1]
