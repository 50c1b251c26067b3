"""What operators do about a blocked lane: conditional, in the order's audit log, and once."""

from typing import Any

import pytest

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.convoy.lane import MOST_DONE, LaneRules
from stepward.domain.history import HistoryKind
from stepward.testing.faults.record import Died
from tests.factories import of_lanes
from tests.lab.convoy.gate import Fault
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.lanes import arrive, blocked, poisoned, with_gap, work_and_die

MENDED = entry("A", 2, "add", amount="2.00")


@pytest.fixture
def world() -> ConvoyWorld:
    """Order A, stopped at its second event, with two behind it."""
    return poisoned(2, length=4)


def audit_log(world: ConvoyWorld) -> list[tuple[str, str, bool, str]]:
    return [(e.command, e.step, e.applied, e.note) for e in AuditLog(world.shared_records).of("A")]


def test_a_skipped_event_is_skipped_and_what_waited_is_applied_in_order(world: ConvoyWorld) -> None:
    """C6: with who and why in the history and in the audit log."""
    world.skip("A", 2)
    world.run()

    assert world.applied() == [1, 3, 4]
    assert world.history()[1].skipped == "skipped by ann: not needed"
    assert audit_log(world) == [("convoy skip", "event 2", True, "")]


def test_another_event_can_replace_one_which_becomes_a_reject(world: ConvoyWorld) -> None:
    """C6: nothing that was sent is lost."""
    world.replace("A", 2, MENDED)
    world.run()

    assert world.applied() == [1, 2, 3, 4]
    assert world.reasons() == ["sequence: replaced by ann: corrected"]
    assert audit_log(world) == [("convoy replace", "event 2", True, "")]


def test_a_retry_tries_the_same_event_again() -> None:
    """C6: an effect that failed until the order stopped works after the cause is mended."""
    world = ConvoyWorld(rules=LaneRules(attempts=1))
    arrive(world, *order("A", 2))
    world.gate.arm(Fault.FAILS, at="submit")
    world.work(world.events.receive())
    assert world.lane().blocked is not None

    world.retry("A")
    world.run()

    assert world.applied() == [1, 2]
    assert audit_log(world) == [("convoy retry", "", True, "")]


def test_a_retry_of_what_is_still_wrong_stops_again_without_a_second_alert(world: ConvoyWorld) -> None:
    since = world.lane().blocked

    world.retry("A")
    world.run()

    assert world.lane().blocked == since
    assert len(world.alerts.told) == 1


def test_an_event_that_never_came_can_be_skipped() -> None:
    """C5: an operator or the event itself closes a gap; the event is stored as a reject if it comes after all."""
    world, events = with_gap(3)
    world.skip("A", 2)
    world.run()
    world.run(events[1])

    assert world.applied() == [1, 3]
    assert world.reasons() == ["sequence: 2 was skipped: skipped by ann: not needed"]


def test_an_event_that_never_came_can_be_given() -> None:
    world, _ = with_gap(3)
    world.replace("A", 2, MENDED)
    world.run()

    assert world.applied() == [1, 2, 3]


@pytest.mark.parametrize(
    ("event", "note"),
    [
        ({**MENDED, "op": "remove"}, "the new event is not valid: op: Invalid enum value 'remove'"),
        ({**MENDED, "orderId": "B"}, "the new event is of order B"),
        ({**MENDED, "sequence": 3}, "the new event has the sequence 3; it has to be 2"),
        ({"orderId": "A", "op": "add"}, "the new event is not valid: sequence: is missing"),
        ({"op": "add"}, "the new event is not valid: orderId: is missing"),
    ],
)
def test_a_wrong_replacement_is_refused_with_a_reason(world: ConvoyWorld, event: dict[str, Any], note: str) -> None:
    world.replace("A", 2, event)
    world.run()

    assert audit_log(world) == [("convoy replace", "event 2", False, note)]
    assert world.lane().last == 1


@pytest.mark.parametrize(("position", "name"), [(1, "1"), (3, "3"), (-1, "u1")])
def test_only_what_blocks_the_lane_can_be_skipped(world: ConvoyWorld, position: int, name: str) -> None:
    """C6: conditional on what the operator saw."""
    world.skip("A", position)
    world.run()

    assert audit_log(world)[0][2:] == (False, f"event {name} is not what stops the lane; event 2 does")
    assert world.telemetry.count(HistoryKind.REFUSED) == 1


def test_a_lane_that_goes_on_has_nothing_to_skip_or_retry() -> None:
    world = ConvoyWorld()
    world.run(*order("A", 2))

    world.skip("A", 3)
    world.skip("A", 2)
    world.retry("A")
    world.retry("nobody")
    world.run()

    assert [note for _, _, _, note in audit_log(world)] == [
        "event 3 is not what the lane waits for",
        "event 2 is not what the lane waits for",
        "nothing to retry: no event stops the lane",
    ]
    assert "nobody" not in world.lanes.lanes


def test_a_command_that_comes_twice_has_its_effect_once() -> None:
    """C6: the lane remembers the newest commands that had their effect by their names."""
    world = poisoned(2, 3, length=4)

    for _ in range(2):
        world.retry("A", asked="once")
    world.run()
    for _ in range(2):
        world.skip("A", 2, asked="skip")
    world.run()

    assert blocked(world)[0] == 3
    assert [applied for _, _, applied, _ in audit_log(world)] == [True, True]
    assert world.telemetry.count(HistoryKind.RETRIED) == 1


@pytest.mark.parametrize("between", [1, MOST_DONE - 1])
def test_a_command_that_comes_again_after_others_is_listed_by_what_it_did(between: int) -> None:
    """C6: its consumer died before the audit log had it; seed 3586."""
    world = poisoned(2, 3, length=4)
    world.skip("A", 2)
    for _ in range(between):
        world.retry("A")
    skip, *others = world.events.receive()
    world.gate.arm(Fault.DIES_BEFORE, at="SharedRecords.write")
    with pytest.raises(Died):
        world.work([skip])
    world.gate.calm()
    world.work(others)

    world.work([skip])

    assert blocked(world)[0] == 3
    assert set(audit_log(world)) == {("convoy retry", "", True, ""), ("convoy skip", "event 2", True, "")}


@pytest.mark.parametrize("after", range(1, 8))
def test_a_death_within_a_command_leaves_nothing_half_done(world: ConvoyWorld, after: int) -> None:
    """C6: the command comes again, and the audit log has one entry of it."""
    world.skip("A", 2)
    world.gate.arm(Fault.DIES_AFTER, after)

    work_and_die(world)

    assert world.applied() == [1, 3, 4]
    assert audit_log(world) == [("convoy skip", "event 2", True, "")]


def test_events_without_a_usable_sequence_are_resolved_one_by_one() -> None:
    """C6: skipped, or replaced by one that says where it belongs."""
    world = ConvoyWorld()
    world.run(entry("A", 1, "create"), entry("A", None, "add"), entry("A", None, "add", amount="2.00"))

    world.retry("A")
    world.skip("A", -1)
    world.run()
    assert blocked(world)[0] == -2
    world.replace("A", -2, MENDED)
    world.run()

    assert (world.applied(), world.lane().unsequenced, world.lane().blocked) == ([1, 2], (), None)
    assert audit_log(world)[0][3] == "nothing to retry: event u1 has no usable sequence; replace it or skip it"
    assert [alert.event for alert in of_lanes(world.alerts.told)] == ["u1", "u2"]
