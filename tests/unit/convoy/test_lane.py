"""The lane of an order, as values: where an event belongs, how it changes the lane, and when the lane is due."""

from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent, position_of, sequence_name
from stepward.domain.convoy.lane import (
    MOST_OFFSETS,
    Alerted,
    Blocked,
    Lane,
    LaneRules,
    advanced,
    alerted,
    due,
    opened,
    owed,
    refusal,
    settled,
    superseded,
    with_offset,
)
from stepward.domain.convoy.sequence import Turn, is_repeated, position_for, turn
from tests.factories import HOUR, T0

RULES = LaneRules(idle_after=HOUR)
UNNUMBERED = Lane("A", sequenced=False)


def event(sequence: int | None = 1, op: Op | None = Op.ADD, **more: object) -> OrderEvent:
    return replace(OrderEvent("A", "{}", f"d{sequence}", op, sequence), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lane", "position", "expected"),
    [
        (Lane("A"), 0, Turn.NOWHERE),
        (Lane("A"), 1, Turn.NEXT),
        (Lane("A"), 2, Turn.AHEAD),
        (Lane("A", last=2, highest=2), 2, Turn.EARLIER),
        (Lane("A", last=2, highest=2), 3, Turn.NEXT),
        (Lane("A", last=2, highest=2, end=2), 3, Turn.AFTER_END),
        (Lane("A", last=2, highest=3, blocked=Blocked(3, "no", T0)), 3, Turn.AHEAD),
    ],
)
def test_a_place_stands_in_one_way_to_its_lane(lane: Lane, position: int, expected: Turn) -> None:
    """C5."""
    assert turn(lane, position) is expected


@given(last=st.integers(0, 9), end=st.integers(0, 9), position=st.integers(0, 12), blocked=st.booleans())
def test_only_the_position_after_the_last_one_is_next(last: int, end: int, position: int, *, blocked: bool) -> None:
    """C5: and none while the lane is blocked."""
    lane = Lane("A", last=last, highest=last, end=end, blocked=Blocked(last + 1, "no", T0) if blocked else None)
    if turn(lane, position) is Turn.NEXT:
        assert position == last + 1
        assert not blocked
        assert not end or position <= end


def test_the_first_event_says_whether_numbers_count_where_they_are_optional() -> None:
    optional = LaneRules(sequenced=False)
    assert opened("A", event(None), LaneRules()).sequenced
    assert opened("A", event(5), optional).sequenced
    assert not opened("A", event(None), optional).sequenced
    assert not opened("A", None, optional).sequenced


def test_without_numbers_the_first_position_is_reserved_for_the_create() -> None:
    add, create = event(None, ledger_id="L"), event(None, Op.CREATE, ledger_id="L")
    assert position_for(UNNUMBERED, add) == 2
    assert position_for(replace(UNNUMBERED, highest=2), add) == 3
    assert position_for(replace(UNNUMBERED, highest=3), create) == 1
    assert position_for(replace(UNNUMBERED, last=1, highest=3), create) == 4


def test_without_numbers_an_event_that_no_ledger_brought_has_no_position() -> None:
    """Its second delivery would look like another event."""
    assert position_for(UNNUMBERED, event(None)) == 0


def test_a_ledgers_entries_are_known_up_to_the_newest_one() -> None:
    """C3: only in lanes without numbers; a ledger without a name says nothing."""
    fourth = event(None, ledger_id="L", index=4)
    lane = with_offset(UNNUMBERED, fourth)
    assert is_repeated(lane, fourth)
    assert is_repeated(lane, replace(fourth, index=3))
    assert not is_repeated(lane, replace(fourth, index=5))
    assert not is_repeated(lane, replace(fourth, ledger_id="M"))
    assert not is_repeated(replace(lane, sequenced=True), event(ledger_id="L", index=4))
    assert with_offset(UNNUMBERED, event(None)) is UNNUMBERED


def test_a_lane_forgets_the_oldest_ledgers() -> None:
    lane = UNNUMBERED
    for number in range(MOST_OFFSETS + 5):
        lane = with_offset(lane, event(None, ledger_id=f"L{number}"))
    assert list(lane.offsets) == [f"L{number}" for number in range(5, MOST_OFFSETS + 5)]


@pytest.mark.parametrize("kind", [Op.ADD, Op.DELETE, Op.CREATE])
def test_only_a_modify_is_superseded_by_something_newer(kind: Op) -> None:
    lane = replace(UNNUMBERED, as_of=T0)
    assert superseded(lane, event(None, Op.MODIFY, as_of=T0 - 1))
    assert not superseded(lane, event(None, Op.MODIFY, as_of=T0))
    assert not superseded(lane, event(None, kind, as_of=T0 - 1))
    assert not superseded(replace(lane, sequenced=True), event(2, Op.MODIFY, as_of=T0 - 1))


def test_a_skipped_event_leaves_no_trace_in_the_state_of_the_order() -> None:
    lane = advanced(Lane("A"), StoredEvent(1, event(1, Op.CREATE, end=True, as_of=T0), "skipped"))
    assert (lane.last, lane.created, lane.end, lane.as_of) == (1, False, 0, None)


def test_a_skipped_event_cannot_be_changed() -> None:
    lane = Lane("A", last=2, highest=2, created=True)
    change = event(3, Op.MODIFY, modifies=2)
    assert not refusal(lane, change, StoredEvent(2, event(2)))
    assert refusal(lane, change, StoredEvent(2, event(2), "skipped"))
    assert refusal(lane, change, None)


def test_a_change_is_a_new_revision_and_no_change_is_none() -> None:
    lane = Lane("A", revision=3, touched_at=T0)
    assert settled(lane, replace(lane), RULES, T0 + 1) is lane
    assert settled(lane, replace(lane), RULES, T0 + 1, has_rows=True).revision == 4
    assert settled(lane, replace(lane, last=1, highest=1), RULES, T0 + 1).revision == 4


def test_a_gap_is_as_old_as_its_first_sight() -> None:
    """C5, I9: what comes behind it in the meantime does not make it younger."""
    first = settled(Lane("A"), replace(Lane("A"), last=1, highest=3), RULES, T0)
    second = settled(first, replace(first, highest=5), RULES, T0 + 9)
    closed = settled(second, replace(second, last=3), RULES, T0 + 10)
    assert (first.gap_since, second.gap_since, closed.gap_since) == (T0, T0, T0 + 10)
    assert (second.due, closed.due) == (T0 + RULES.gap_within, T0 + 10 + RULES.gap_within)


def test_a_trouble_that_was_alerted_of_is_owed_no_more_until_another_one_comes() -> None:
    """C6."""
    stopped = replace(Lane("A"), blocked=Blocked(1, "no", T0), highest=1)
    known = alerted(stopped, Alerted.BLOCKED, RULES)
    again = settled(known, replace(known, highest=4), RULES, T0 + 5)
    other = settled(known, replace(known, blocked=Blocked(2, "no", T0 + 5)), RULES, T0 + 5)
    assert owed(stopped, RULES, T0) is owed(other, RULES, T0 + HOUR) is Alerted.BLOCKED
    assert owed(known, RULES, T0 + HOUR) is owed(again, RULES, T0 + HOUR) is Alerted.NOTHING


@given(
    last=st.integers(0, 3),
    ahead=st.integers(0, 2),
    end=st.booleans(),
    blocked=st.booleans(),
    known=st.sampled_from(list(Alerted)),
    idle=st.sampled_from([0, HOUR]),
    later=st.integers(0, 3 * HOUR),
)
def test_whoever_is_owed_something_is_listed_by_then(
    last: int, ahead: int, known: Alerted, idle: int, later: int, *, end: bool, blocked: bool
) -> None:
    """I9: early or on time, never late."""
    rules = LaneRules(idle_after=idle)
    lane = Lane("A", last=last, highest=last + ahead, end=last if end and not ahead else 0, touched_at=T0)
    trouble = Blocked(last + 1, "no", T0) if blocked else None
    lane = replace(lane, alerted=known, blocked=trouble, gap_since=T0 if ahead else None)
    at = due(lane, rules)
    if owed(lane, rules, T0 + later) is not Alerted.NOTHING:
        assert at is not None
        assert at <= T0 + later or at <= T0 + rules.alert_within


@pytest.mark.parametrize(("position", "name"), [(7, "7"), (-1, "u1"), (-20, "u20")])
def test_a_position_has_one_name(position: int, name: str) -> None:
    assert (sequence_name(position), position_of(name)) == (name, position)


@pytest.mark.parametrize("name", ["", "0", "u0", "-1", "u-1", "1.5", "²", "u", "uu1", "1" * 11])
def test_what_names_no_position_names_none(name: str) -> None:
    assert position_of(name) is None


def test_what_a_lane_remembers_cannot_be_changed_from_outside() -> None:
    assert isinstance(Lane("A").offsets, MappingProxyType)
