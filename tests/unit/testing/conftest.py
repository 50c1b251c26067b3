"""A small shop under test, in memory and on the real handlers."""

import pytest

from stepward import App
from stepward.testing.aws.engine import aws_engine
from stepward.testing.harness import Harness
from stepward.testing.plugin import engine
from tests.unit.sqs.clock import Clock
from tests.unit.testing.shop import app as shop

__all__ = ["aws_engine", "engine"]


@pytest.fixture
def app() -> App:
    return shop


@pytest.fixture(params=["engine", "aws_engine"])
def either(request: pytest.FixtureRequest) -> Harness:
    """One engine, then the other."""
    found: Harness = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def clock() -> Clock:
    return Clock()
