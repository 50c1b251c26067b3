"""Faults between the adapters and DynamoDB, put in where botocore sends and where it reads the answer."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, cast

from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from botocore.exceptions import ReadTimeoutError
from mypy_boto3_dynamodb import DynamoDBClient
from urllib3 import HTTPResponse

from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.adapters.dynamodb.task_store import DynamoTaskStore

NOWHERE = "http://127.0.0.1:9/"
Send = Callable[[AWSPreparedRequest], AWSResponse | None]
Adapter = DynamoTaskStore | DynamoLanes | DynamoSharedRecords


def _events(adapter: Adapter) -> Any:
    """The hooks of the one client that all models of an adapter share."""
    if isinstance(adapter, DynamoSharedRecords):
        return adapter.table._get_connection().connection.client.meta.events
    return adapter.connection.client.meta.events


def intercept(adapter: Adapter, operation: str, send: Send) -> None:
    """Let `send` stand between the adapter and DynamoDB; None lets a request through."""
    _events(adapter).register_first(f"before-send.dynamodb.{operation}", lambda request, **_: send(request))


def rewrite(adapter: Adapter, operation: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Let `change` alter each answer before the adapter sees it."""
    _events(adapter).register(f"after-call.dynamodb.{operation}", lambda parsed, **_: change(parsed))


def counted(adapter: Adapter) -> Counter[str]:
    """The requests that go out from now on, by operation, as they come."""
    found: Counter[str] = Counter()

    def count(request: AWSPreparedRequest, **_: Any) -> None:
        found.update([cast("bytes", request.headers["X-Amz-Target"]).decode().rpartition(".")[2]])

    _events(adapter).register_first("before-send.dynamodb", count)
    return found


@dataclass
class LostAnswer:
    """The first request is applied, by another client, and its answer is lost; then everything works again."""

    client: DynamoDBClient
    operation: str
    then: Callable[[], None] = lambda: None
    requests: int = 0

    def __call__(self, request: AWSPreparedRequest) -> AWSResponse | None:
        self.requests += 1
        if self.requests > 1:
            return None
        applied, body = cast("Any", self.client), cast("bytes", request.body)
        applied._make_api_call(self.operation, json.loads(body))
        self.then()
        raise ReadTimeoutError(endpoint_url=request.url, error="the answer was lost")


@dataclass
class Refusal:
    """DynamoDB refuses the first `times` requests with this code and, for a transaction, these reasons."""

    code: str
    reasons: Sequence[str] = ()
    times: int = 1_000
    status: int = 400
    requests: int = 0

    def __call__(self, request: AWSPreparedRequest) -> AWSResponse | None:
        self.requests += 1
        if self.requests > self.times:
            return None
        # moto answers too, unless the request is for somewhere else.
        request.url = NOWHERE
        return _refused(request.url, self)


@dataclass
class Unreachable:
    """No request gets through."""

    requests: list[str] = field(default_factory=list)

    def __call__(self, request: AWSPreparedRequest) -> AWSResponse | None:
        self.requests.append(request.url)
        raise ReadTimeoutError(endpoint_url=request.url, error="nobody answers")


def _refused(url: str, refusal: Refusal) -> AWSResponse:
    body: dict[str, Any] = {"__type": f"com.amazonaws.dynamodb.v20120810#{refusal.code}", "message": "not now"}
    if refusal.reasons:
        body["CancellationReasons"] = [{"Code": code, "Message": None} for code in refusal.reasons]
    raw = HTTPResponse(BytesIO(json.dumps(body).encode()), preload_content=False)
    return AWSResponse(url, refusal.status, HTTPHeaders(), raw)
