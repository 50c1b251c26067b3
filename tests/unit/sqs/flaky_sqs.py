"""SQS as a botocore client meets it on a bad day: answers to SendMessageBatch come from here, not from a network."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from mypy_boto3_sqs import SQSClient

Entry = dict[str, Any]


@dataclass
class FlakySqs:
    """`fails` gives the error code for an entry at its n-th try (from 1), "" to take it, "lost" to leave it unnamed.

    `refuses_all` is the error code with which it refuses every call.
    `calls` holds the bodies that each call brought, `taken` those that were taken.
    """

    fails: Callable[[str, int], str] = lambda _body, _attempt: ""
    refuses_all: str = ""
    sender_faults: frozenset[str] = frozenset({"InvalidMessageContents"})
    calls: list[list[str]] = field(default_factory=list)
    taken: list[list[str]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)

    def client(self) -> SQSClient:
        client = boto3.client("sqs", config=Config(retries={"mode": "standard", "max_attempts": 1}))
        client.meta.events.register("before-send.sqs.SendMessageBatch", cast("Callable[..., None]", self._answer))
        return client

    def _answer(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        if self.refuses_all:
            return response(request.url, 400, {"__type": f"com.amazonaws.sqs#{self.refuses_all}", "message": "no"})
        entries: list[Entry] = json.loads(cast("bytes", request.body))["Entries"]
        self.calls.append([entry["MessageBody"] for entry in entries])
        self.entries.extend(entries)
        codes = {entry["Id"]: self._code(entry["MessageBody"]) for entry in entries}
        self.taken.append([entry["MessageBody"] for entry in entries if not codes[entry["Id"]]])
        return response(request.url, 200, self._body(codes))

    def _code(self, body: str) -> str:
        self.tries[body] += 1
        return self.fails(body, self.tries[body])

    def _body(self, codes: dict[str, str]) -> dict[str, Any]:
        return {
            "Successful": [
                {"Id": name, "MessageId": f"id-{name}", "MD5OfMessageBody": "-"}
                for name, code in codes.items()
                if not code
            ],
            "Failed": [
                {"Id": name, "Code": code, "SenderFault": code in self.sender_faults}
                for name, code in codes.items()
                if code and code != "lost"
            ],
        }


def response(url: str, status: int, body: dict[str, Any]) -> AWSResponse:
    headers = HTTPHeaders()
    headers["Content-Type"] = "application/x-amz-json-1.0"
    return AWSResponse(url, status, headers, _Raw(json.dumps(body).encode()))


@dataclass
class _Raw:
    content: bytes

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.content
