"""S17: when an undo is refused, what a click too many does, and where there is no return."""

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.task.change import Decision
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from tests.factories import (
    UNDOES,
    Life,
    alerts,
    planned,
    requests,
    shipping,
    undoable,
)

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED = ProcessState


def notes(decision: Decision) -> list[str]:
    assert {entry.kind for entry in decision.history} == {HistoryKind.REFUSED}
    assert decision.refusal is not None
    assert [entry.note for entry in decision.history] == [decision.refusal.text]
    return [decision.refusal.text]


def test_an_undo_past_the_point_of_no_return_is_refused_with_that_reason() -> None:
    """S17: the order only goes forward."""
    for word in ("undo", "cancel"):
        life = shipping(point_of_no_return=True)
        before = life.task

        decision = getattr(life, word)()

        assert (decision.task, decision.messages) == (before, ())
        assert notes(decision) == ["the order is past its point of no return, ship"]


def test_an_undo_before_the_point_of_no_return_is_taken() -> None:
    """S17: it is passed when its first attempt begins, not before."""
    life = Life(undoable(point_of_no_return=True))
    life.start()
    life.done("reserve")

    life.undo()

    assert life.task.process_state is UNDOING


def test_a_policy_cannot_undo_past_the_point_of_no_return() -> None:
    """S13, S17: beside it, the threshold ends in an alert that says why."""
    pay = planned("pay", "check", undo="refund", threshold=1, exhausted=(UNDOES,))
    plan = Plan("fork", 1, (planned("check"), pay, planned("tell", "check", point_of_no_return=True)))
    life = Life(plan)
    life.start()
    life.done("check")

    decision = life.overdue("pay")

    (alert,) = [alert for alert in alerts(decision) if alert.step == "pay"]
    assert alert.reason.endswith("; it cannot be undone past tell")
    assert life.state("pay") is ERROR


@pytest.mark.parametrize("word", ["undo", "cancel"])
def test_a_second_click_undoes_nothing_twice_and_says_so(word: str) -> None:
    """S17, S18: it asks again for what the first one claimed, for that may be lost."""
    life = shipping()
    first = life.undo()

    second = getattr(life, word)()

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert notes(second) == ["the order is Undoing already"]


def test_a_late_click_is_refused_with_where_the_order_stands() -> None:
    """S17: whether it was undone, or its undo failed and has to be resubmitted."""
    life = Life(undoable())
    life.undo()
    assert notes(life.undo()) == ["the order is Undone already"]

    failed = shipping()
    failed.undo()
    failed.declined("ship/undo")
    before = failed.task
    decision = failed.undo()
    assert (notes(decision), decision.task) == (["the order is UndoFailed already"], before)


def test_a_click_on_a_step_that_the_undo_stopped_is_refused() -> None:
    """S7, S17."""
    life = shipping()
    life.declined("ship")
    life.undo()
    before = life.task

    decision = life.resubmit("ship", 1)

    assert decision.task is before
    assert notes(decision) == ["nothing to resubmit: the step is Stopped at attempt 1"]
