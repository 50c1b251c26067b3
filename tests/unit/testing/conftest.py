"""A small shop under test."""

import pytest

from stepward import App
from tests.unit.testing.shop import app as shop


@pytest.fixture
def app() -> App:
    return shop
