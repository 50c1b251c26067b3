"""S17: when an undo is refused, what a click too many does, and where there is no return."""

from typing import Any

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.task.change import Decision
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan
from tests.factories import UNDOES, Life, alerts, planned, requests, shipping, started, undoable

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


def note(decision: Decision) -> str:
    assert decision.refusal is not None
    assert {(entry.kind, entry.note) for entry in decision.history} == {(HistoryKind.REFUSED, decision.refusal.text)}
    return decision.refusal.text


def beside_no_return(**pay: Any) -> Life:
    """`pay` runs beside `tell`, past which the order only goes forward."""
    steps = planned("pay", "check", undo="refund", **pay), planned("tell", "check", point_of_no_return=True)
    return started(Plan("fork", 1, (planned("check"), *steps)), "check")


@pytest.mark.parametrize("command", ["undo", "cancel"])
def test_an_undo_past_the_point_of_no_return_is_refused_with_that_reason(command: str) -> None:
    """S17: the order only goes forward."""
    life = shipping(point_of_no_return=True)

    decision = getattr(life, command)()

    assert life.ignored(decision)
    assert note(decision) == "the order is past its point of no return, ship"


def test_an_undo_before_the_point_of_no_return_is_taken() -> None:
    """S17: it is passed when its first attempt begins, not before."""
    life = started(undoable(point_of_no_return=True), "reserve")
    assert life.undo().task.process_state is UNDOING


def test_a_policy_cannot_undo_past_the_point_of_no_return() -> None:
    """S13, S17: beside it, the threshold ends in an alert that says why."""
    life = beside_no_return(threshold=1, exhausted=(UNDOES,))

    (alert,) = [alert for alert in alerts(life.overdue("pay")) if alert.step == "pay"]
    assert alert.reason.endswith("; it cannot be undone past tell")
    assert life.state("pay") is ERROR


@pytest.mark.parametrize("command", ["undo", "cancel"])
def test_a_second_click_undoes_nothing_twice_and_says_so(command: str) -> None:
    """S17, S18: it asks again for what the first one claimed, for that may be lost."""
    life = shipping()
    first = life.undo()

    second = getattr(life, command)()

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert note(second) == "the order is Undoing already"


def test_a_late_click_is_refused_with_the_state_of_the_order() -> None:
    """S17: whether it was undone, or its undo failed and has to be resubmitted."""
    life = Life(undoable())
    life.undo()
    assert note(life.undo()) == "the order is Undone already"

    failed = shipping()
    failed.undo()
    failed.declined("ship/undo")
    assert note(failed.undo()) == "the order is UndoFailed already"
    assert failed.task == failed.before


def test_a_click_on_a_step_that_the_undo_stopped_is_refused() -> None:
    """S7, S17."""
    life = shipping()
    life.declined("ship")
    life.undo()

    assert note(life.resubmit("ship", 1)) == "nothing to resubmit: the step is Stopped at attempt 1"
    assert life.task is life.before


def test_a_refusal_cannot_undo_past_the_point_of_no_return() -> None:
    """S7, S13: its policy would undo; beside that step it ends in Error, and an operator is alerted."""
    life = beside_no_return(on_permanent=Exhausted.UNDO)

    assert [alert.step for alert in alerts(life.declined("pay"))] == ["pay"]
    assert life.state("pay") is ERROR
    assert not life.task.undoing
