"""A task for each test that asks for one."""

import pytest

from tests.factories import Life, sequence, started


@pytest.fixture
def fresh() -> Life:
    """Nothing has begun; the start may be lost."""
    return Life(sequence("reserve", "ship"))


@pytest.fixture
def life() -> Life:
    """`reserve` runs, and `ship` waits for it."""
    return started(sequence("reserve", "ship"))
