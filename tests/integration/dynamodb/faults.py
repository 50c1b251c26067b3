"""Faults between the adapters and DynamoDB, put in where botocore sends and where it reads the answer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, cast

from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from mypy_boto3_dynamodb import DynamoDBClient
from urllib3 import HTTPResponse

from stepward.adapters.dynamodb.task_store import DynamoTaskStore

NOWHERE = "http://127.0.0.1:9/"
Send = Callable[[AWSPreparedRequest], AWSResponse | None]


def clients_of(store: DynamoTaskStore) -> Sequence[BaseClient]:
    assert store.orders is not None
    models = (store.tasks, store.plans, store.orders.table)
    clients = [store.connection.client, *(model._get_connection().connection.client for model in models)]
    return list({id(client): client for client in clients}.values())


def intercept(store: DynamoTaskStore, operation: str, send: Send) -> None:
    """Let `send` stand between the store and DynamoDB; None lets a request through."""
    for client in clients_of(store):
        events: Any = client.meta.events
        events.register_first(f"before-send.dynamodb.{operation}", lambda request, **_: send(request))


def rewrite(store: DynamoTaskStore, operation: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Let `change` alter each answer before the adapter sees it."""
    for client in clients_of(store):
        client.meta.events.register(f"after-call.dynamodb.{operation}", lambda parsed, **_: change(parsed))


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
