"""The worlds of the contract suites."""

from collections.abc import Iterator

import boto3
import pytest

from tests.contract.worlds.access import EVERYWHERE, Access, access_in
from tests.contract.worlds.queue_worlds import MemoryWorld, QueueWorld, SqsWorld
from tests.contract.worlds.store_worlds import StoreWorld, store_world


@pytest.fixture(params=EVERYWHERE)
def access(request: pytest.FixtureRequest) -> Iterator[Access | None]:
    with access_in(request.param, request) as found:
        yield found


@pytest.fixture
def stores(access: Access | None) -> StoreWorld:
    return store_world(access)


@pytest.fixture
def queue_world(access: Access | None) -> QueueWorld:
    return MemoryWorld.new() if access is None else SqsWorld.new(access)


@pytest.fixture(params=["memory", pytest.param("cloud", marks=pytest.mark.cloud)])
def hearing_world(request: pytest.FixtureRequest) -> QueueWorld:
    """A world in which events reach a machine; moto takes them, and needs a package more to pass them on."""
    if request.param == "memory":
        return MemoryWorld.new()
    access = request.getfixturevalue("cloud_access")
    world = SqsWorld.new(access)
    world.listen(boto3.client("events", **access))
    return world
