"""Every guard is needed: switched off, one at a time, it is missed at once."""

from pathlib import Path

import pytest

from tests.depth import some
from tests.lab.guards.asking import missed_by
from tests.lab.guards.switch import Guard, guards, switched_off

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("guard", some(guards(), 6), ids=lambda guard: guard.name.replace(" ", "-"))
def test_a_guard_that_is_off_is_missed(guard: Guard) -> None:
    """Each guard that is switched off turns a test red."""
    assert missed_by(guard), f"nothing misses this guard: {guard.protects}"


def test_every_guard_is_where_the_table_says_and_the_tests_that_it_names_are_there() -> None:
    """What `make lab` asks of all of them cannot be asked of a guard that is not found."""
    for guard in guards():
        with switched_off(guard.patch):
            pass
        for file, _, test in (asked.partition("::") for asked in guard.asks):
            assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text() or not test, (guard.name, file, test)
