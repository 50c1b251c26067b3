"""A local cloud whose functions look for AWS at a proxy: signatures and permissions stay in force behind it."""

from collections.abc import Iterator
from typing import Any

import boto3
import psutil
import pytest
from botocore.exceptions import ClientError

from stepward.local.access import access
from stepward.local.cloud import local_cloud
from stepward.local.server import Server

pytestmark = pytest.mark.cloud

PROXY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with local_cloud(log=tmp_path_factory.mktemp("proxied") / "log", functions_reach=PROXY) as server:
        yield server


@pytest.fixture
def queues(proxied: Server) -> Any:
    """A client that signs for the proxy's address, as a user who may only list queues."""
    iam = boto3.client("iam", **access(proxied.endpoint))
    iam.create_user(UserName="someone")
    iam.put_user_policy(UserName="someone", PolicyName="few", PolicyDocument=_allowing("sqs:ListQueues"))
    key = iam.create_access_key(UserName="someone")["AccessKey"]
    own = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
    yield boto3.client("sqs", **{**access(PROXY), **own})
    iam.delete_access_key(UserName="someone", AccessKeyId=key["AccessKeyId"])
    iam.delete_user_policy(UserName="someone", PolicyName="few")
    iam.delete_user(UserName="someone")


def test_functions_know_where_the_proxy_is(proxied: Server) -> None:
    assert psutil.Process(proxied.pid).environ()["AWS_ENDPOINT_URL"] == PROXY


def test_a_request_that_was_signed_for_the_proxy_is_taken_from_the_proxy(proxied: Server, queues: Any) -> None:
    _led_to(queues, f"http://localhost:{proxied.port}")

    assert queues.list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_a_request_that_was_signed_for_the_proxy_is_refused_from_anybody_else(proxied: Server, queues: Any) -> None:
    _led_to(queues, proxied.endpoint)

    with pytest.raises(ClientError, match="signature"):
        queues.list_queues()


def test_behind_the_proxy_nobody_may_do_more_than_before(proxied: Server, queues: Any) -> None:
    _led_to(queues, f"http://localhost:{proxied.port}")

    with pytest.raises(ClientError, match="AccessDenied"):
        queues.create_queue(QueueName="not-allowed")


def _led_to(client: Any, endpoint: str) -> None:
    """Send what was signed for the proxy to `endpoint`, as a proxy does."""

    def lead(request: Any, **_: object) -> None:
        request.url = request.url.replace(PROXY, endpoint)

    client.meta.events.register("before-send", lead)


def _allowing(action: str) -> str:
    return f'{{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", "Action": "{action}", "Resource": "*"}}]}}'
