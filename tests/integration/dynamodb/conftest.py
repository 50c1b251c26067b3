"""The DynamoDB adapters on tables of their own, on moto and on the local cloud."""

from collections.abc import Iterator

import pytest
from botocore.retries.standard import ExponentialBackoff

from tests.contract.worlds.access import ON_AWS, Access, access_in
from tests.contract.worlds.lane_worlds import DynamoLaneWorld, lanes_on_dynamodb
from tests.contract.worlds.store_worlds import DynamoWorld, on_dynamodb


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK decides by itself what to try again; only its waiting in between is left out."""
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)


@pytest.fixture(params=ON_AWS)
def aws_access(request: pytest.FixtureRequest) -> Iterator[Access]:
    with access_in(request.param, request) as access:
        yield access or {}


@pytest.fixture
def moto_access(request: pytest.FixtureRequest) -> Iterator[Access]:
    with access_in("moto", request) as access:
        yield access or {}


@pytest.fixture
def aws(aws_access: Access) -> DynamoWorld:
    return on_dynamodb(aws_access)


@pytest.fixture
def moto(moto_access: Access) -> DynamoWorld:
    return on_dynamodb(moto_access)


@pytest.fixture
def aws_lanes(aws_access: Access) -> DynamoLaneWorld:
    return lanes_on_dynamodb(aws_access)


@pytest.fixture
def moto_lanes(moto_access: Access) -> DynamoLaneWorld:
    return lanes_on_dynamodb(moto_access)
