"""When the index lists a task: early or on time, never late, and seldom written."""

from collections.abc import Callable

import pytest

from stepward.domain.task.change import Decision
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.testing.faults.waits import waiting
from tests.factories import MINUTE, SECOND, T0, Life, diamond, planned, sequence, started

TIMING = Timing()


def test_a_new_task_is_due_when_its_start_is_overdue() -> None:
    """I9: a start that is lost is found."""
    assert Life(sequence("reserve", complete_within=5 * MINUTE)).task.due == T0 + MINUTE


def test_a_new_task_is_due_no_later_than_its_first_steps() -> None:
    """I9: claiming them at once need not touch the index."""
    steps = (planned("slow"), planned("quick", complete_within=20 * SECOND), planned("x", "slow"))
    assert Life(Plan("graph", 1, steps)).task.due == T0 + 20 * SECOND


def test_a_smooth_run_writes_the_index_twice() -> None:
    """I9, S12: once at submission, once when the task ends; steps in between leave it as it is."""
    life = Life(sequence("reserve", "charge", "ship"))
    seen = [life.task.due, life.start(at=T0 + SECOND).task.due]
    for number, name in enumerate(("reserve", "charge", "ship"), start=1):
        seen.append(life.done(name, at=T0 + number * SECOND).task.due)

    assert seen == [T0 + MINUTE] * 4 + [None]


def test_a_nearer_deadline_moves_the_due_time_back_in_the_same_write() -> None:
    """I9: never late."""
    life = started(Plan("line", 1, (planned("slow"), planned("quick", "slow", complete_within=2 * SECOND))))
    assert life.done("slow", at=T0 + SECOND).task.due == T0 + 3 * SECOND


def test_only_a_deadline_check_moves_the_due_time_forward() -> None:
    """I9: the Supervisor finds the task alive, and will not look again before it must."""
    life = started(sequence("reserve", "ship"))
    assert life.done("reserve", at=T0 + 50 * SECOND).task.due == T0 + MINUTE

    decision = life.check(at=T0 + MINUTE + TIMING.skew_margin)

    assert life.task.due == life.step("ship").complete_by == T0 + 110 * SECOND
    assert (decision.messages, decision.history) == ((), ())


def test_a_check_that_finds_everything_as_it_should_be_writes_nothing() -> None:
    """S12: a doubled or stale listing costs a read, no write."""
    life = started(sequence("reserve", "ship"))
    assert life.check(at=T0 + SECOND).task is life.before


def test_a_task_with_an_outstanding_alert_beside_a_running_step_is_due_for_the_nearer() -> None:
    """I9."""
    life = started(diamond(complete_within=10 * MINUTE))
    life.done("check", at=T0 + SECOND)
    life.declined("pay", at=T0 + 2 * SECOND)

    assert life.check(at=T0 + MINUTE + TIMING.skew_margin).task.due == T0 + 2 * SECOND + TIMING.claim_within


def test_a_resubmitted_task_is_listed_again() -> None:
    """I9: it had left the index when the operator was alerted."""
    life = started(sequence("reserve"))
    life.declined("reserve")
    assert life.alerted("reserve").task.due is None

    assert life.resubmit("reserve", 1, at=T0 + 5 * MINUTE).task.due == T0 + 6 * MINUTE


@pytest.mark.parametrize("threshold", [1, 3])
def test_the_due_time_is_never_later_than_what_waits(threshold: int) -> None:
    """I9: through recovery, reminder, error, alert and resubmission alike."""
    life = Life(diamond(threshold=threshold))
    steps: list[Callable[[], Decision]] = [
        lambda: life.start(at=T0 + SECOND),
        lambda: life.done("check", at=T0 + 40 * SECOND),
        lambda: life.check(at=T0 + 66 * SECOND),
        lambda: life.check(at=T0 + 110 * SECOND),
        lambda: life.retry("pick", 1, at=T0 + 111 * SECOND),
        lambda: life.check(at=T0 + 240 * SECOND),
        lambda: life.resubmit("pay", 1, at=T0 + 250 * SECOND),
        lambda: life.check(at=T0 + 400 * SECOND),
    ]
    for act in steps:
        due = act().task.due
        assert due is not None
        assert due <= min(waiting(life.task))
