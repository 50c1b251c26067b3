"""The DynamoDB adapters on tables of their own, on moto and on the local cloud."""

from collections.abc import Iterator

import pytest
from botocore.retries.standard import ExponentialBackoff

from tests.contract.worlds.store_worlds import DynamoWorld, world_named


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK decides by itself what to try again; only its waiting in between is left out."""
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)


@pytest.fixture(params=["moto", pytest.param("cloud", marks=pytest.mark.cloud)])
def aws(request: pytest.FixtureRequest) -> Iterator[DynamoWorld]:
    with world_named(request.param, request) as world:
        assert isinstance(world, DynamoWorld)
        yield world


@pytest.fixture
def moto(request: pytest.FixtureRequest) -> Iterator[DynamoWorld]:
    with world_named("moto", request) as world:
        assert isinstance(world, DynamoWorld)
        yield world
