"""An operator pauses an order and resumes it: nothing new starts meanwhile, and nothing is lost."""

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Pause, Resume
from stepward.domain.task.record import ProcessState
from tests.decisions import asked, kinds, requests, retries
from tests.factories import MINUTE, ORDER_ID, T0, UNDOES, Life, sequence, started, undoable

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


@pytest.fixture
def paused() -> Life:
    """`reserve` is under way."""
    life = started(sequence("reserve", "ship"))
    life.pause()
    return life


def test_what_runs_may_end_and_nothing_new_starts(paused: Life) -> None:
    """S7: the operator does not break a step off."""
    decision = paused.done("reserve")
    assert (paused.state("reserve"), paused.state("ship"), requests(decision)) == (PROCESSED, PENDING, [])
    assert paused.task.paused == "stock is being counted"


def test_a_pause_is_visible_until_it_ends() -> None:
    """S7, I1: it needs an operator from then on, with who and why."""
    life = Life(sequence("reserve"))
    assert life.pause(at=T0 + 5).task.needs_attention == T0 + 5
    (entry,) = life.task.history
    assert (entry.kind, entry.by, entry.note) == (HistoryKind.PAUSED, "ada", "stock is being counted")

    resumed = life.resume().task

    assert resumed.needs_attention is None
    assert (resumed.history[-1].kind, resumed.history[-1].note) == (HistoryKind.RESUMED, "counted")


def test_the_supervisor_leaves_what_waits_for_the_end_of_a_pause(paused: Life) -> None:
    """S12: nobody failed to claim it, so nobody is reminded, and it leaves the index."""
    paused.done("reserve")
    paused.check(at=paused.now + 10 * MINUTE)

    assert paused.ignored(paused.check(at=paused.now + 100 * MINUTE))
    assert (paused.task.due, paused.step("ship").failure_count) == (None, 0)


def test_a_running_step_that_gets_overdue_is_freed_but_not_run_again(paused: Life) -> None:
    """S11, S12: it did fail; it waits for the resumption."""
    decision = paused.overdue("reserve")

    assert (paused.state("reserve"), retries(decision)) == (PENDING, [])
    assert paused.retry("reserve", 1).messages == ()
    assert [request.attempt for request in requests(paused.resume())] == [2]


def test_a_start_or_a_retry_starts_nothing_in_a_pause() -> None:
    """S7."""
    life = Life(sequence("reserve", "ship"))
    life.pause()

    assert life.start().messages == ()
    assert life.retry("reserve", 0).messages == ()
    assert asked(life.resume()) == ["reserve"]


def test_a_resumed_order_goes_on_from_where_it_stood(paused: Life) -> None:
    """S16, I9: and is listed again."""
    paused.done("reserve")
    paused.check(at=paused.now + 10 * MINUTE)

    assert asked(paused.resume()) == ["ship"]

    assert paused.task.due == paused.step("ship").complete_by
    assert paused.done("ship").task.process_state is PROCESSED


def test_a_second_click_says_that_there_is_nothing_to_do(paused: Life) -> None:
    """S18."""
    twice = paused.pause()
    assert twice.task == paused.before
    assert (kinds(twice), twice.history[0].note) == ([HistoryKind.REFUSED], "nothing to pause: the order is paused")
    paused.done("reserve")
    first = paused.resume()

    second = paused.resume()

    assert second.task is first.task
    note = "nothing to resume: the order is not paused"
    assert (kinds(second), second.history[0].note) == ([HistoryKind.REFUSED], note)
    assert requests(second) == requests(first)


def test_an_order_that_has_ended_cannot_be_paused() -> None:
    undone = Life(undoable())
    undone.undo()

    for ended, state in ((started(sequence("reserve"), "reserve"), "Processed"), (undone, "Undone")):
        decision = ended.pause()
        assert (decision.task, decision.history[0].note) == (ended.before, f"nothing to pause: the order is {state}")


def test_an_undo_ends_the_pause() -> None:
    """S17: whoever undoes wants that done."""
    life = started(undoable())
    life.pause()

    assert asked(life.undo()) == ["reserve/undo"]
    assert life.task.paused == ""


def test_a_policy_does_not_end_the_pause() -> None:
    """S13, S17: the undo is planned, and begins when the operator says so."""
    life = started(undoable(threshold=1, exhausted=(UNDOES,)), "reserve", "charge")
    life.pause()

    decision = life.overdue("ship")

    assert (life.task.process_state, life.task.paused != "", decision.messages) == (UNDOING, True, ())
    assert life.task.needs_attention is not None
    assert asked(life.resume()) == ["ship/undo"]


def test_an_undo_can_be_paused_too() -> None:
    """S17."""
    life = started(undoable(), "reserve")
    life.undo()
    life.pause()

    assert requests(life.done("charge/undo")) == []
    assert asked(life.resume()) == ["reserve/undo"]


def test_a_step_resubmitted_in_a_pause_waits_for_the_resumption() -> None:
    """S7."""
    life = started(sequence("reserve"))
    life.declined("reserve")
    life.pause()

    assert requests(life.resubmit("reserve", 1)) == []
    assert life.state("reserve") is PENDING
    assert [request.attempt for request in requests(life.resume())] == [2]


def test_a_pause_that_comes_twice_does_not_undo_the_resume_between() -> None:
    """S18: the queue may bring a command again, late."""
    life = Life(sequence("reserve"))
    pause = Pause(ORDER_ID, "ada", "counting", asked_at=T0 + 1)
    life.apply(pause, at=T0 + 2)
    life.apply(Resume(ORDER_ID, "ada", "counted", asked_at=T0 + 3), at=T0 + 4)

    assert kinds(life.apply(pause, at=T0 + 9)) == [HistoryKind.REFUSED]
    assert life.task.paused == ""


def test_a_resume_that_comes_twice_does_not_end_a_later_pause() -> None:
    """S18."""
    life = Life(sequence("reserve"))
    resume = Resume(ORDER_ID, "ada", "counted", asked_at=T0 + 3)
    life.apply(Pause(ORDER_ID, "ada", "counting", asked_at=T0 + 1), at=T0 + 2)
    life.apply(resume, at=T0 + 4)
    life.apply(Pause(ORDER_ID, "ada", "counting again", asked_at=T0 + 5), at=T0 + 6)

    assert life.apply(resume, at=T0 + 9).task.paused == "counting again"
