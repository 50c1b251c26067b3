"""An operator halts an order and lets it go on: nothing new starts meanwhile, and nothing is lost."""

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Pause, Resume
from stepward.domain.task.record import ProcessState
from tests.factories import MINUTE, ORDER_ID, T0, UNDOES, Life, requests, retries, sequence, undoable

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED = ProcessState


def paused() -> Life:
    """`reserve` is under way."""
    life = Life(sequence("reserve", "ship"))
    life.start()
    life.pause()
    return life


def test_what_runs_may_end_and_nothing_new_starts() -> None:
    """S7: the operator's word does not break a step off."""
    life = paused()

    decision = life.done("reserve")

    assert (life.state("reserve"), life.state("ship"), requests(decision)) == (PROCESSED, PENDING, [])
    assert life.task.paused == "stock is being counted"


def test_a_pause_is_visible_until_it_ends() -> None:
    """S7, I1: it needs an operator from then on, with who and why."""
    life = Life(sequence("reserve"))
    life.pause(at=T0 + 5)
    since = life.task.needs_attention
    assert since == T0 + 5
    (entry,) = life.task.history
    assert (entry.kind, entry.by, entry.note) == (HistoryKind.PAUSED, "ada", "stock is being counted")

    resumed = life.resume().task

    assert resumed.needs_attention is None
    assert (life.task.history[-1].kind, life.task.history[-1].note) == (HistoryKind.RESUMED, "counted")


def test_the_supervisor_leaves_what_a_pause_keeps_waiting() -> None:
    """S12: nobody failed to claim it, so nobody is reminded, and it leaves the index."""
    life = paused()
    life.done("reserve")
    life.look(at=life.now + 10 * MINUTE)
    before = life.task

    decision = life.look(at=life.now + 100 * MINUTE)

    assert (decision.task, decision.messages, life.task.due) == (before, (), None)
    assert life.step("ship").failure_count == 0


def test_a_running_step_that_gets_overdue_is_freed_but_not_run_again() -> None:
    """S11, S12: it did fail; it waits for the resumption."""
    life = paused()

    decision = life.overdue("reserve")

    assert (life.state("reserve"), retries(decision)) == (PENDING, [])
    assert life.retry("reserve", 1).messages == ()
    assert [request.attempt for request in requests(life.resume())] == [2]


def test_a_start_or_a_retry_starts_nothing_in_a_pause() -> None:
    """S7."""
    life = Life(sequence("reserve", "ship"))
    life.pause()

    assert life.start().messages == ()
    assert life.retry("reserve", 0).messages == ()
    assert [request.step for request in requests(life.resume())] == ["reserve"]


def test_a_resumed_order_goes_on_from_where_it_stood() -> None:
    """S16, I9: and is listed again."""
    life = paused()
    life.done("reserve")
    life.look(at=life.now + 10 * MINUTE)

    assert [request.step for request in requests(life.resume())] == ["ship"]

    assert life.task.due == life.step("ship").complete_by
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_a_second_click_says_that_there_is_nothing_to_do() -> None:
    """S18."""
    life = paused()
    before = life.task
    twice = life.pause()
    assert (twice.task, [(entry.kind, entry.note) for entry in twice.history]) == (
        before,
        [(HistoryKind.REFUSED, "nothing to pause: the order is paused")],
    )
    life.done("reserve")
    first = life.resume()

    second = life.resume()

    assert second.task is first.task
    assert [(entry.kind, entry.note) for entry in second.history] == [
        (HistoryKind.REFUSED, "nothing to resume: the order is not paused")
    ]
    assert requests(second) == requests(first)


def test_an_order_that_has_ended_cannot_be_paused() -> None:
    life = Life(sequence("reserve"))
    life.start()
    life.done("reserve")
    undone = Life(undoable())
    undone.undo()

    for ended, state in ((life, "Processed"), (undone, "Undone")):
        before = ended.task
        decision = ended.pause()
        assert (decision.task, decision.history[0].note) == (before, f"nothing to pause: the order is {state}")


def test_an_order_whose_last_step_ends_in_a_pause_needs_nobody() -> None:
    """I1: it is Processed."""
    life = Life(sequence("reserve"))
    life.start()
    life.pause()

    life.done("reserve")

    assert (life.task.process_state, life.task.needs_attention, life.task.due) == (PROCESSED, None, None)


def test_an_undo_ends_the_pause() -> None:
    """S17: whoever undoes wants that done."""
    life = Life(undoable())
    life.start()
    life.pause()

    assert [request.step for request in requests(life.undo())] == ["reserve/undo"]
    assert life.task.paused == ""


def test_a_policy_does_not_end_the_pause() -> None:
    """S13, S17: the undo is planned, and begins when the operator says so."""
    life = Life(undoable(threshold=1, exhausted=(UNDOES,)))
    life.start()
    life.done("reserve")
    life.done("charge")
    life.pause()

    decision = life.overdue("ship")

    assert (life.task.process_state, life.task.paused != "", decision.messages) == (UNDOING, True, ())
    assert life.task.needs_attention is not None
    assert [request.step for request in requests(life.resume())] == ["ship/undo"]


def test_an_undo_can_be_paused_too() -> None:
    """S17."""
    life = Life(undoable())
    life.start()
    life.done("reserve")
    life.undo()
    life.pause()

    assert requests(life.done("charge/undo")) == []
    assert [request.step for request in requests(life.resume())] == ["reserve/undo"]


def test_a_step_resubmitted_in_a_pause_waits_for_the_resumption() -> None:
    """S7."""
    life = Life(sequence("reserve"))
    life.start()
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

    decision = life.apply(pause, at=T0 + 9)

    assert life.task.paused == ""
    assert [entry.kind for entry in decision.history] == [HistoryKind.REFUSED]


def test_a_resume_that_comes_twice_does_not_end_a_later_pause() -> None:
    """S18."""
    life = Life(sequence("reserve"))
    resume = Resume(ORDER_ID, "ada", "counted", asked_at=T0 + 3)
    life.apply(Pause(ORDER_ID, "ada", "counting", asked_at=T0 + 1), at=T0 + 2)
    life.apply(resume, at=T0 + 4)
    life.apply(Pause(ORDER_ID, "ada", "counting again", asked_at=T0 + 5), at=T0 + 6)

    life.apply(resume, at=T0 + 9)

    assert life.task.paused == "counting again"
