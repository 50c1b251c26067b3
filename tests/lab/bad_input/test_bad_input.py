"""Whatever comes in at any door: no crash, no neighbour harmed, and what cannot be taken is rejected with its fault.

`found/` holds inputs that once got past a door or crashed what is behind it; the tests try each at every door.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth import depth
from tests.lab.bad_input.damage import damaged
from tests.lab.bad_input.doors import ORDER_DOORS, Door
from tests.lab.bad_input.lane_doors import LANE_DOORS
from tests.lab.bad_input.ledger_doors import LEDGER_DOORS

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", depth(100, 25)))
FOUND = sorted((Path(__file__).parent / "found").iterdir())
DOORS: Mapping[str, Callable[[], Door]] = {**ORDER_DOORS, **LEDGER_DOORS, **LANE_DOORS}


def judge(name: str, text: str) -> None:
    """Pass `text` in beside a good message, and check what became of both."""
    door = DOORS[name]()

    seen = door.pass_in(text)

    for reject in seen.rejects:
        assert reject.field, f"rejected without the field: {reject}"
        assert reject.reason, f"rejected without the reason: {reject}"
        assert reject.body == text or not door.whole, "not stored as it came"
    assert seen.rejects or seen.history or door.quiet, "neither taken nor rejected: the message has vanished"
    assert not seen.wrong
    assert door.worked(), "its neighbour was harmed"


@pytest.mark.parametrize("name", DOORS)
def test_a_good_message_is_taken(name: str) -> None:
    door = DOORS[name]()
    assert all(reject.reason.startswith("replaced by") for reject in door.pass_in(door.good).rejects)
    judge(name, door.good)


@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_damaged_message_is_taken_or_rejected_and_harms_no_neighbour(name: str, data: st.DataObject) -> None:
    """What every part must give: a reject with field and reason, and never in the way of others."""
    judge(name, data.draw(damaged(DOORS[name]().good)))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
@pytest.mark.parametrize("name", DOORS)
def test_what_was_found_before_is_taken_or_rejected(name: str, path: Path) -> None:
    judge(name, path.read_bytes().decode("utf-8", "surrogatepass"))
