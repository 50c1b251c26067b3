"""EventBridge on a bad day: answers to PutEvents come from here, not from a network."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from mypy_boto3_events import EventBridgeClient

from tests.unit.sqs.flaky_sqs import response


@dataclass
class FlakyEvents:
    """`fails` gives the error code for an order's event at its n-th try (from 1), "" to take it.

    `refuses_all` is the error code with which it refuses every call, `forgets` how many entries at the end its answer
    leaves out. `calls` holds the order ids that each call brought, `taken` those that were taken.
    """

    fails: Callable[[str, int], str] = lambda _order, _attempt: ""
    refuses_all: str = ""
    forgets: int = 0
    calls: list[list[str]] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)

    def client(self) -> EventBridgeClient:
        client = boto3.client("events", config=Config(retries={"mode": "standard", "max_attempts": 1}))
        client.meta.events.register("before-send.events.PutEvents", cast("Callable[..., None]", self._answer))
        return client

    def _answer(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        if self.refuses_all:
            return response(request.url, 400, {"__type": self.refuses_all, "message": "no"})
        entries: list[dict[str, Any]] = json.loads(cast("bytes", request.body))["Entries"]
        self.entries += entries
        orders = [json.loads(entry["Detail"]).get("orderId", "") for entry in entries]
        self.calls.append(orders)
        answers = [self._of(order) for order in orders]
        failed = sum("ErrorCode" in answer for answer in answers)
        named = answers[: len(answers) - self.forgets]
        return response(request.url, 200, {"FailedEntryCount": failed, "Entries": named})

    def _of(self, order: str) -> dict[str, str]:
        self.tries[order] += 1
        if code := self.fails(order, self.tries[order]):
            return {"ErrorCode": code, "ErrorMessage": "no"}
        self.taken.append(order)
        return {"EventId": f"e-{order}"}
