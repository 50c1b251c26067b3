"""What every implementation of `ports.Lanes` promises."""

from dataclasses import replace

import pytest

from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Alerted, Blocked, Lane
from stepward.ports import Lanes
from tests.contract.worlds.access import Access
from tests.contract.worlds.lane_worlds import ORDER_ID, applied, event, eventful, lanes_on, stored
from tests.contract.worlds.store_worlds import NOW, SHARDS, ids_in

ABSENT = Lane(ORDER_ID)


@pytest.fixture
def lanes(access: Access | None) -> Lanes:
    return lanes_on(access)


def test_what_was_never_written_is_not_there(lanes: Lanes) -> None:
    assert lanes.load(ORDER_ID) is None
    assert list(lanes.rows(ORDER_ID, 1, 10)) == []


@pytest.mark.parametrize("lane", [Lane(ORDER_ID, 1), applied(3), replace(eventful(), revision=1)])
def test_a_lane_comes_back_as_it_was_written(lanes: Lanes, lane: Lane) -> None:
    assert lanes.save(lane, replaces=ABSENT)

    found = lanes.load(ORDER_ID)

    assert found == lane
    assert found is not None
    assert list(found.offsets) == list(lane.offsets), "the latest ledger comes last"


def test_a_lane_that_is_there_is_not_begun_again(lanes: Lanes) -> None:
    lanes.save(applied(1), replaces=ABSENT)

    assert not lanes.save(Lane(ORDER_ID, 1, attempts=1), replaces=ABSENT)

    assert lanes.load(ORDER_ID) == applied(1)


def test_a_change_wins_on_the_revision_that_was_read(lanes: Lanes) -> None:
    """C3: the check on the last sequence and the effect are one write."""
    lanes.save(applied(1), replaces=ABSENT)
    winner, loser = applied(2), replace(applied(2), attempts=4)

    assert lanes.save(winner, replaces=applied(1))
    assert not lanes.save(loser, replaces=applied(1))

    assert lanes.load(ORDER_ID) == winner


def test_a_lane_that_is_gone_is_not_replaced(lanes: Lanes) -> None:
    """Design rule 7: updates never create."""
    assert not lanes.save(applied(2), replaces=applied(1))
    assert not lanes.save(applied(2), replaces=applied(1), rows=[stored(5)])

    assert lanes.load(ORDER_ID) is None
    assert list(lanes.rows(ORDER_ID, 1, 10)) == []


def test_rows_are_written_with_the_lane_or_not_at_all(lanes: Lanes) -> None:
    """C5: what a faster change has decided cannot be overwritten by what a slower one would have parked."""
    lanes.save(applied(1), replaces=ABSENT)
    parked, late = stored(5), stored(5, amount="9.00")

    assert lanes.save(replace(applied(1), revision=2, highest=5), replaces=applied(1), rows=[parked])
    assert not lanes.save(replace(applied(1), revision=2), replaces=applied(1), rows=[late])

    assert list(lanes.rows(ORDER_ID, 1, 10)) == [parked]


def test_events_that_leave_the_lane_get_rows_of_their_own(lanes: Lanes) -> None:
    lanes.save(applied(40), replaces=ABSENT)
    held = applied(40).recent

    assert lanes.save(applied(41, recent=(stored(41),)), replaces=applied(40), older=held)

    assert list(lanes.rows(ORDER_ID, 1, 50)) == list(held)


def test_what_left_the_lane_may_be_written_by_a_change_that_loses(lanes: Lanes) -> None:
    """They are the events that the lane holds anyway, so the rows say nothing wrong."""
    lanes.save(applied(2), replaces=ABSENT)
    lanes.save(applied(3), replaces=applied(2))

    assert not lanes.save(applied(3, recent=(stored(3),)), replaces=applied(2), older=applied(2).recent)

    assert lanes.load(ORDER_ID) == applied(3)
    assert [row.position for row in lanes.rows(ORDER_ID, 1, 10)] in ([], [1, 2])


def test_older_events_and_new_rows_go_with_one_change(lanes: Lanes) -> None:
    lanes.save(applied(2), replaces=ABSENT)

    further = applied(3, recent=(stored(3),), highest=7)
    assert lanes.save(further, replaces=applied(2), rows=[stored(7)], older=applied(2).recent)

    assert [row.position for row in lanes.rows(ORDER_ID, 1, 10)] == [1, 2, 7]


def test_rows_come_in_the_order_of_their_positions(lanes: Lanes) -> None:
    positions = [1_000_000_000, 2, -1, 10, 999_999_999, 9, -10, 1, -2]
    lanes.save(applied(1), replaces=ABSENT, rows=[stored(position) for position in positions])

    assert [row.position for row in lanes.rows(ORDER_ID, -20, 50)] == sorted(positions)
    assert [row.position for row in lanes.rows(ORDER_ID, 1, 50)] == [1, 2, 9, 10, 999_999_999, 1_000_000_000]
    assert [row.position for row in lanes.rows(ORDER_ID, 3, 2)] == [9, 10]
    assert [row.position for row in lanes.rows(ORDER_ID, -2, 1)] == [-2]


def test_a_row_comes_back_as_it_was_written(lanes: Lanes) -> None:
    rows = [
        StoredEvent(-1, event(0, sequence="three")),
        StoredEvent(2, event(2, note="ärger €"), "skipped by ada: lost for good"),
        StoredEvent(3, event(3, op="modify", modifies=3)),
        StoredEvent(4, event(4, padding="x" * 300_000)),
    ]
    assert rows[0].event.fault
    assert rows[2].event.fault

    lanes.save(applied(1), replaces=ABSENT, rows=rows)

    assert list(lanes.rows(ORDER_ID, -1, 10)) == rows


def test_a_row_can_be_written_anew(lanes: Lanes) -> None:
    lanes.save(applied(1, highest=3), replaces=ABSENT, rows=[stored(3)])

    assert lanes.save(applied(2, highest=3), replaces=applied(1, highest=3), rows=[stored(3, "skipped")])

    assert list(lanes.rows(ORDER_ID, 1, 10)) == [stored(3, "skipped")]


def test_lanes_do_not_touch_each_other(lanes: Lanes) -> None:
    """C1."""
    other = applied(1, order_id="ord-2", recent=(StoredEvent(1, event(1, "ord-2")),))
    lanes.save(applied(1), replaces=ABSENT, rows=[stored(4)])
    lanes.save(other, replaces=Lane("ord-2"))

    assert lanes.load("ord-2") == other
    assert list(lanes.rows("ord-2", 1, 10)) == []


def test_due_lanes_are_listed_by_shard_and_time(lanes: Lanes) -> None:
    first, second, third = ids_in(0, 3)
    (elsewhere,) = ids_in(1, 1)
    for order_id, due in ((second, NOW), (first, NOW - 5), (third, NOW + 1), (elsewhere, NOW - 9)):
        lanes.save(Lane(order_id, 1, due=due), replaces=Lane(order_id))

    assert list(lanes.due(0, NOW)) == [first, second]
    assert list(lanes.due(1, NOW)) == [elsewhere]


def test_a_lane_that_is_not_due_is_not_listed(lanes: Lanes) -> None:
    lanes.save(applied(1, due=NOW), replaces=ABSENT, rows=[stored(4)])
    lanes.save(applied(2), replaces=applied(1, due=NOW))

    assert [name for shard in range(SHARDS) for name in lanes.due(shard, NOW + 9)] == []


def test_lanes_that_wait_for_an_operator_are_listed_oldest_first(lanes: Lanes) -> None:
    """C6: visibly."""
    waiting = [
        Lane("ord-b", 1, blocked=Blocked(3, "op: why", NOW)),
        Lane("ord-a", 1, gap_since=NOW + 5, alerted=Alerted.GAP, last=1, highest=3),
        Lane("ord-c", 1, touched_at=NOW - 5, alerted=Alerted.IDLE),
        Lane("ord-d", 1, gap_since=NOW),
        Lane("ord-e", 1),
    ]
    for lane in waiting:
        lanes.save(lane, replaces=Lane(lane.order_id))
    lanes.save(Lane("ord-b", 2, last=3), replaces=waiting[0])

    assert list(lanes.needing_attention()) == ["ord-c", "ord-a"]
