"""The worlds of the contract suites."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from tests.contract.queue_worlds import MemoryWorld, QueueWorld, SqsWorld


@pytest.fixture(params=["memory", "moto", pytest.param("cloud", marks=pytest.mark.cloud)])
def queue_world(request: pytest.FixtureRequest) -> Iterator[QueueWorld]:
    match request.param:
        case "memory":
            yield MemoryWorld.new()
        case "moto":
            with mock_aws():
                yield SqsWorld.new(boto3.client("sqs"), boto3.client("sns"))
        case _:
            access = request.getfixturevalue("cloud_access")
            yield SqsWorld.new(boto3.client("sqs", **access), boto3.client("sns", **access))
