"""Whoever dies, and wherever: all ends as it should. `make crash-points` tries every path, and pairs of deaths."""

from dataclasses import replace
from functools import partial

import pytest

from stepward.domain.task.record import ProcessState
from stepward.testing.faults.enumeration import tally
from stepward.testing.faults.path import NOT_REACHED, Path, run
from stepward.testing.faults.pulse import Kind, Point, Pulse
from tests.depth import some
from tests.lab.crash_points.fulfilment import live
from tests.lab.crash_points.order_paths import SCENARIOS
from tests.lab.crash_points.paths import PATHS

OF_ORDERS = ["undo", "asked at once", "happy", "recover", "drain", "ledger split", "poison, skipped", "later"]
WHOLE = [*OF_ORDERS, "signal", "child undone", "child refused", "child"]


@pytest.mark.parametrize("name", some(WHOLE, 2))
def test_every_single_crash_point_survives(name: str) -> None:
    """S22: before and after each port call; the audits decide: I1 to I6, I8, I9 and I13 of orders, I7 of ledgers."""
    found = tally(PATHS[name])

    assert not found.failed, found.failed[0].report
    assert found.points == found.survived >= 4 * found.calls > 40


@pytest.mark.parametrize("name", PATHS)
def test_every_path_ends_as_its_story_says(name: str) -> None:
    made = run(PATHS[name])

    assert not made.faults, made.report


def test_a_death_leaves_the_rest_to_the_other_instance() -> None:
    """S16: Scheduler 0 dies after its first claim, and Scheduler 1 goes on from there."""
    undisturbed = run(PATHS["happy"])
    calls = [line for line in undisturbed.timeline if line.split(" s ")[1].strip()[:1].isdigit()]
    claim = next(number for number, call in enumerate(calls, 1) if "store.save" in call)

    made = run(PATHS["happy"], Point(claim, Kind.DIES_AFTER))

    assert not made.faults
    assert any("scheduler-1" in line for line in made.timeline)
    assert made.calls > undisturbed.calls


def test_what_does_not_hold_is_told_with_the_timeline() -> None:
    scenario = replace(SCENARIOS["happy"], ends=ProcessState.UNDONE)
    made = run(Path("wrong", "", partial(live, scenario)), Point(2, Kind.FAILS))

    assert made.faults == ("the order ended Processed, not Undone",)
    assert "2  queues.to_scheduler(Start)  <- fails" in made.report


def test_a_point_that_is_never_reached_is_no_success() -> None:
    assert run(PATHS["happy"], Point(10_000, Kind.FAILS)).faults == (NOT_REACHED,)


@pytest.mark.parametrize("kind", Kind)
def test_a_point_is_read_as_it_is_told(kind: Kind) -> None:
    assert Point.of(str(Point(12, kind))) == Point(12, kind)


def test_a_call_that_sends_several_messages_may_send_half_of_them() -> None:
    undisturbed = run(PATHS["graph"])
    call = min(undisturbed.several)

    made = run(PATHS["graph"], Point(call, Kind.HALF_SENT))

    assert not made.faults, made.report
    assert "half sent" in made.report


def test_sending_nothing_is_no_call() -> None:
    pulse = Pulse()
    pulse.tap([1, 2], "list").index(1)
    pulse.tap([0], "list").extend([])

    assert pulse.calls == 1
