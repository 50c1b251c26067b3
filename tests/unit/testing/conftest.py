"""A small shop under test."""

import pytest

from stepward import App
from stepward.testing.plugin import engine
from tests.unit.testing.shop import app as shop

__all__ = ["engine"]


@pytest.fixture
def app() -> App:
    return shop
