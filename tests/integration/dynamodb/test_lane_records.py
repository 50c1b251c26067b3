"""How lanes are stored: what they cost, and what is corrupt."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.adapters.dynamodb.lane_records import EventText, key_of, position_in
from stepward.cli.cost.item_size import KB, size_of
from stepward.domain.convoy.change import RECENT_BYTES
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Corrupt
from stepward.wire.order_event import event_of
from tests.contract.worlds.lane_worlds import ORDER_ID, DynamoLaneWorld, applied, eventful, stored
from tests.contract.worlds.store_worlds import NOW

ABSENT = Lane(ORDER_ID)
HEAD = {"Revision": {"N": "1"}, "WriteId": {"S": "w"}, "TouchedAt": {"N": "1"}}


def test_an_ordinary_lane_stays_below_one_kilobyte_however_long_it_gets(moto_lanes: DynamoLaneWorld) -> None:
    """A write is billed in whole kilobytes; the lane holds its newest events up to the limit that makes that so."""
    body = "x" * (RECENT_BYTES // 4 - 60)
    known: dict[str, Any] = {"note": body, "ledgerId": "2026-01-01-a", "index": 99_999}
    events = tuple(stored(999_999_990 + position, **known) for position in range(3))
    assert sum(len(event.event.body) for event in events) > RECENT_BYTES - 60
    lane = Lane(
        "order-2026-0000123456",
        revision=123_456,
        last=999_999_992,
        highest=999_999_993,
        created=True,
        gap_since=NOW,
        attempts=3,
        recent=events,
        touched_at=NOW,
        due=NOW,
        done=("0123456789abcdef",),
    )
    moto_lanes.lanes.save(lane, replaces=Lane(lane.order_id))

    (item,) = moto_lanes.raw(lane.order_id)

    assert size_of(item) < KB


def test_usual_values_are_left_out(moto_lanes: DynamoLaneWorld) -> None:
    """Design rule 8: null is absence, and the indexes stay sparse."""
    moto_lanes.lanes.save(Lane(ORDER_ID, 1, touched_at=NOW), replaces=ABSENT)

    (item,) = moto_lanes.raw()

    assert item.keys() == {"OrderID", "Position", "Revision", "WriteId", "TouchedAt"}


def test_nothing_is_stored_as_null(moto_lanes: DynamoLaneWorld) -> None:
    lane = replace(eventful(), revision=1)
    moto_lanes.lanes.save(lane, replaces=ABSENT, rows=[stored(-1), stored(7)])

    unsequenced_event, row, head = moto_lanes.raw()

    assert [item["Position"]["S"] for item in (unsequenced_event, row, head)] == ["-9999999999", "0000000007", "lane"]
    assert unsequenced_event.keys() == row.keys() == {"OrderID", "Position", "Body", "Summary"}
    assert not any("NULL" in value for value in head.values())
    assert head["Recent"]["M"].keys() == {"4", "5"}


@pytest.mark.parametrize("position", [-9_999_999_999, -10, -2, -1, 0, 1, 2, 10, 999_999_999, 9_999_999_999])
def test_a_position_can_be_read_off_its_key(position: int) -> None:
    assert position_in(key_of(position)) == position
    assert len(key_of(position)) <= 11


FIELDS = ["op", "sequence", "modifies", "end", "asOf", "ledgerId", "index", "customerId"]
VALUES = st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["add", "1970-01-01T00:00:00Z", "L1", "\t"])


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_what_is_known_of_an_event_is_read_back_without_its_text(content: dict[str, Any]) -> None:
    """Valid or not: a lane that is loaded trusts what was written beside the text."""
    held = StoredEvent(3, event_of({**content, "orderId": ORDER_ID}))
    assert replace(EventText.of(held), body="").stored(ORDER_ID, 3) == replace(held, event=replace(held.event, body=""))


def test_keys_sort_as_positions_do() -> None:
    positions = [-9_999_999_999, -100, -10, -2, -1, 1, 2, 10, 100, 9_999_999_999]

    assert sorted(positions, key=key_of) == positions
    assert max(map(key_of, positions)) < "lane"


NO_EVENTS: list[dict[str, Any]] = [{"N": "1"}, {"S": "no JSON"}, {"S": "[]"}, {"S": '{"op":"add"}'}]
GARBAGE: dict[str, list[Any]] = {
    "Revision": [{"S": "1"}, {"N": "1.5"}, None],
    "TouchedAt": [None],
    "Last": [{"S": "three"}],
    "Alerted": [{"N": "1"}],
    "Offsets": [{"S": "no JSON"}],
    "Unsequenced": [{"S": '["u1"]'}],
    "BlockedAt": [{"N": "3"}],
    "Recent": [{"S": "[]"}, {"M": {"one": {"S": "{}"}}}, *({"M": {"1": event}} for event in NO_EVENTS)],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in GARBAGE.items() for value in values])
def test_a_lane_that_cannot_be_understood_is_corrupt(moto_lanes: DynamoLaneWorld, name: str, value: Any) -> None:
    """It is named, and stops no other."""
    found = HEAD | {name: value}
    moto_lanes.put("lane", **{name: value for name, value in found.items() if value})

    with pytest.raises(Corrupt, match=ORDER_ID):
        moto_lanes.lanes.load(ORDER_ID)


@pytest.mark.parametrize(
    ("position", "garbage"),
    [
        ("0000000007", {"Body": {"S": "no JSON"}}),
        ("0000000007", {"Body": {"S": '{"op":"add"}'}}),
        ("0000000007", {"Body": {"N": "1"}}),
        ("0000000007", {}),
        ("5 and more", {"Body": {"S": stored(5).event.body}}),
    ],
)
def test_a_row_without_sense_is_corrupt(moto_lanes: DynamoLaneWorld, position: str, garbage: dict[str, Any]) -> None:
    moto_lanes.put(position, **garbage)

    with pytest.raises(Corrupt, match=ORDER_ID):
        moto_lanes.lanes.rows(ORDER_ID, 1, 10)


def test_a_lane_that_cannot_be_understood_is_listed_all_the_same(moto_lanes: DynamoLaneWorld) -> None:
    moto_lanes.lanes.save(applied(1, due=NOW), replaces=ABSENT)
    (item,) = moto_lanes.raw()
    indexed = {name: item[name] for name in ("Shard", "Due")}
    moto_lanes.put("lane", Recent={"S": "garbage"}, Attention={"N": "1"}, Since={"N": "5"}, **indexed)

    assert ORDER_ID in [name for shard in (0, 1) for name in moto_lanes.lanes.due(shard, NOW)]
    assert list(moto_lanes.lanes.needing_attention()) == [ORDER_ID]
