"""The event, the context and the answer of a function that a queue triggers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepward.testing.sqs.messages import Received


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """The context that Lambda gives to a handler; `ends_at` is epoch milliseconds by `clock`."""

    function_name: str
    aws_request_id: str
    ends_at: int
    clock: Callable[[], int]
    memory_limit_in_mb: int = 256
    function_version: str = "$LATEST"

    @property
    def invoked_function_arn(self) -> str:
        """The function's ARN."""
        return f"arn:aws:lambda:us-east-1:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda would stop the function."""
        return max(0, self.ends_at - self.clock())


def event_of(batch: Sequence[Received], arn: str) -> dict[str, Any]:
    """The event that Lambda makes of a batch; `arn` is that of the queue."""
    records = [
        {
            "messageId": message.message_id,
            "receiptHandle": message.handle,
            "body": message.body,
            "attributes": dict(message.attributes),
            # Through JSON, as what a sender says may be anything; the rest is text, and made anew.
            "messageAttributes": json.loads(json.dumps(dict(found))) if (found := message.message_attributes) else {},
            "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
            "eventSource": "aws:sqs",
            "eventSourceARN": arn,
            "awsRegion": arn.split(":")[3],
        }
        for message in batch
    ]
    return {"Records": records}


def failed_ids(answer: object, ids: set[str]) -> set[str] | None:
    """The message ids that a handler's answer reports as failed; None if Lambda fails the whole batch."""
    if answer is None or answer == []:
        return set()
    if not isinstance(answer, Mapping):
        return None
    reported = answer.get("batchItemFailures")
    if reported is None:
        return set()
    if not isinstance(reported, list):
        return None
    named = [item.get("itemIdentifier") if isinstance(item, Mapping) else None for item in reported]
    known = [name for name in named if isinstance(name, str) and name in ids]
    return set(known) if known == named else None
