"""The worlds of the contract suites."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from stepward.local.access import Access
from tests.contract.worlds.queue_worlds import MemoryWorld, QueueWorld, SqsWorld


@pytest.fixture(params=["memory", "moto", pytest.param("cloud", marks=pytest.mark.cloud)])
def queue_world(request: pytest.FixtureRequest) -> Iterator[QueueWorld]:
    match request.param:
        case "memory":
            yield MemoryWorld.new()
        case "moto":
            with mock_aws():
                yield SqsWorld.new(boto3.client("sqs"), boto3.client("sns"), boto3.client("events"))
        case _:
            yield _on_the_cloud(request.getfixturevalue("cloud_access"))


@pytest.fixture(params=["memory", pytest.param("cloud", marks=pytest.mark.cloud)])
def hearing_world(request: pytest.FixtureRequest) -> QueueWorld:
    """A world in which events reach a machine; moto takes them, and needs a package more to pass them on."""
    if request.param == "memory":
        return MemoryWorld.new()
    access = request.getfixturevalue("cloud_access")
    world = _on_the_cloud(access)
    world.listen(boto3.client("events", **access))
    return world


def _on_the_cloud(access: Access) -> SqsWorld:
    sqs, sns = boto3.client("sqs", **access), boto3.client("sns", **access)
    return SqsWorld.new(sqs, sns, boto3.client("events", **access))
