"""The bucket of ledgers when it does not answer as it should."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from botocore.exceptions import EndpointConnectionError
from botocore.response import StreamingBody
from botocore.retries.standard import ExponentialBackoff
from moto import mock_aws
from urllib3 import HTTPResponse

from stepward.adapters.s3_ledgers import S3Ledgers
from stepward.domain.errors import Misconfigured, StepwardError, Transient
from tests.contract.worlds.lane_worlds import S3LedgerWorld

KEY = "customer-7/ledger.jsonl"
NOWHERE = "http://127.0.0.1:9/"
CALLS = pytest.mark.parametrize("call", ["HeadObject", "GetObject"])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3LedgerWorld]:
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)
    with mock_aws():
        made = S3LedgerWorld.new(boto3.client("s3"))
        made.put(KEY, b"x" * 200_000)
        yield made


def intercept(world: S3LedgerWorld, call: str, send: Callable[[AWSPreparedRequest], AWSResponse]) -> None:
    events: Any = world.client.meta.events
    events.register_first(f"before-send.s3.{call}", lambda request, **_: send(request))


def refusing(status: int, code: str) -> Callable[[AWSPreparedRequest], AWSResponse]:
    def send(request: AWSPreparedRequest) -> AWSResponse:
        request.url = NOWHERE  # moto answers too, unless the request is for somewhere else
        raw = HTTPResponse(BytesIO(f"<Error><Code>{code}</Code></Error>".encode()), preload_content=False)
        return AWSResponse(NOWHERE, status, HTTPHeaders(), raw)

    return send


def use(ledgers: S3Ledgers, call: str) -> object:
    if call == "HeadObject":
        return ledgers.version(KEY)
    return list(ledgers.read(KEY, '"any"', 0))


@CALLS
@pytest.mark.parametrize(
    ("status", "code", "meaning"),
    [(503, "SlowDown", Transient), (500, "InternalError", Transient), (403, "AccessDenied", Misconfigured)],
)
def test_what_the_bucket_refuses_is_transient_or_for_the_deployment(
    world: S3LedgerWorld, call: str, status: int, code: str, meaning: type[StepwardError]
) -> None:
    """Neither costs anybody a ledger."""
    intercept(world, call, refusing(status, code))

    with pytest.raises(meaning, match=KEY):
        use(world.ledgers, call)


@CALLS
def test_a_bucket_out_of_reach_is_transient(world: S3LedgerWorld, call: str) -> None:
    def send(request: AWSPreparedRequest) -> AWSResponse:
        raise EndpointConnectionError(endpoint_url=request.url)

    intercept(world, call, send)

    with pytest.raises(Transient, match=KEY):
        use(world.ledgers, call)


def test_a_bucket_that_is_not_there_is_for_the_deployment(world: S3LedgerWorld) -> None:
    elsewhere = S3Ledgers(lambda: world.client, "no-such-bucket")

    with pytest.raises(Misconfigured, match="no-such-bucket"):
        list(elsewhere.read(KEY, '"any"', 0))


def test_an_answer_that_breaks_off_is_transient(world: S3LedgerWorld) -> None:
    """What came before it is split and recorded by then, and need not come again."""
    version = world.ledgers.version(KEY)
    assert version

    def cut(parsed: dict[str, Any], **_: Any) -> None:
        parsed["Body"] = StreamingBody(BytesIO(b"x" * 70_000), content_length=200_000)

    world.client.meta.events.register("after-call.s3.GetObject", cut)
    pieces = world.ledgers.read(KEY, version, 0)

    assert len(next(pieces)) == 65_536
    with pytest.raises(Transient, match="IncompleteRead"):
        list(pieces)


def test_no_client_is_made_before_an_object_is_read() -> None:
    """It takes its time to be made, and most ledgers lie in their message."""

    def client() -> Any:
        raise AssertionError("nobody asked for an object")

    assert S3Ledgers(client, "ledgers").bucket == "ledgers"
