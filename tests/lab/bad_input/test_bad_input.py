"""Whatever comes in at whichever door: no crash, no neighbour harmed, and what cannot be taken is kept, with its fault.

`found/` holds inputs that once got past a door, or killed who stood behind it; each is tried at every door for ever.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.depth import depth
from tests.lab.bad_input import doors
from tests.lab.bad_input.damage import damaged
from tests.lab.bad_input.lane_doors import LANE_DOORS
from tests.lab.bad_input.ledger_doors import LEDGER_DOORS
from tests.lab.bad_input.seen import Door

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", depth(100, 25)))
FOUND = sorted((Path(__file__).parent / "found").iterdir())
DOORS: Mapping[str, Callable[[], Door]] = {
    "orders": doors.orders,
    "scheduler": doors.scheduler,
    "commands": doors.commands,
    "undos": doors.undos,
    "replies": doors.replies,
    "requests": doors.requests,
    **LEDGER_DOORS,
    **LANE_DOORS,
}


def judge(name: str, text: str) -> None:
    """Pass `text` in beside a good message, and look at what became of both."""
    door = DOORS[name]()

    seen = door.pass_in(text)

    for kept in seen.kept:
        assert kept.field, f"kept without the field: {kept}"
        assert kept.reason, f"kept without the reason: {kept}"
        assert kept.body == text or not door.whole, "not kept as it came"
    assert seen.kept or seen.history or door.quiet, "neither taken nor kept: the message has vanished"
    assert not seen.wrong
    assert door.worked(), "its neighbour was harmed"


@pytest.mark.parametrize("name", DOORS)
def test_a_good_message_is_taken(name: str) -> None:
    door = DOORS[name]()
    assert all(kept.reason.startswith("replaced by") for kept in door.pass_in(door.good).kept)
    judge(name, door.good)


@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_a_damaged_message_is_taken_or_kept_and_harms_no_neighbour(name: str, data: st.DataObject) -> None:
    """What every part must give: an error with field and reason, kept, and never in the way of others."""
    judge(name, data.draw(damaged(DOORS[name]().good)))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
@pytest.mark.parametrize("name", DOORS)
def test_what_was_found_before_is_taken_or_kept(name: str, path: Path) -> None:
    judge(name, path.read_bytes().decode("utf-8", "surrogatepass"))
