"""A deployment for each test that asks for one."""

import pytest

from tests.unit.engine.world import World


@pytest.fixture
def world() -> World:
    return World()
