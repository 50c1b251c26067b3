"""Every guard is needed: switched off, one at a time, it is missed at once."""

import pytest

from tests.guards.asking import missed_by
from tests.guards.catalogue import Guard, guards


@pytest.mark.parametrize("guard", guards(), ids=lambda guard: guard.name.replace(" ", "-"))
def test_a_guard_that_is_off_is_missed(guard: Guard) -> None:
    """Each guard that is switched off turns a test red."""
    assert missed_by(guard), f"nothing misses this guard: {guard.protects}"
