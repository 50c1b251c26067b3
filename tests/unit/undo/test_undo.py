"""S17: undo takes back all that an order did or may have done, in reverse of its dependencies, once."""

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from tests.decisions import alerts, asked, requests, retries
from tests.factories import HOUR, MINUTE, ORDER_ID, T0, Life, diamond, planned, shipping, started, undoable

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


@pytest.fixture
def life() -> Life:
    """`reserve` and `charge` are done, `ship` is under way."""
    return shipping()


def test_one_write_fences_what_runs_and_begins_the_undo(life: Life) -> None:
    """S17, S10: no state in between in which a step could still complete."""
    decision = life.undo()

    record = life.step("ship")
    assert life.task.revision == life.before.revision + 1
    assert (record.process_state, record.locked_by, record.complete_by) == (STOPPED, None, None)
    assert life.task.process_state is UNDOING
    assert asked(decision) == ["ship/undo"]


def test_all_running_steps_of_a_graph_are_fenced_at_once() -> None:
    """S17: and both are compensated side by side, for both are in doubt."""
    life = started(diamond(undo=True), "check")

    decision = life.undo()

    assert {life.state(name) for name in ("pick", "pay", "ship")} == {STOPPED}
    assert asked(decision) == ["pick/undo", "pay/undo"]


def test_what_has_not_begun_is_dropped_and_needs_no_undo() -> None:
    """S17."""
    life = started(undoable(), "reserve")

    life.undo()

    assert life.state("ship") is STOPPED
    assert list(life.task.steps)[3:] == ["reserve/undo", "charge/undo"]


def test_completed_steps_are_undone_in_reverse_of_their_order(life: Life) -> None:
    """S17, I6: each only when what came after it is undone."""
    steps = asked(life.undo())
    for name in ("ship/undo", "charge/undo", "reserve/undo"):
        steps += asked(life.done(name))

    assert steps == ["ship/undo", "charge/undo", "reserve/undo"]
    assert (life.task.process_state, life.task.due) == (UNDONE, None)
    assert life.count(HistoryKind.UNDONE) == 1


def test_independent_compensations_run_side_by_side() -> None:
    """S17, S1: a diamond is undone from its tip, both sides at once, its root last."""
    life = started(diamond(undo=True), "check", "pick", "pay", "ship")

    assert asked(life.undo()) == ["ship/undo"]
    assert asked(life.done("ship/undo")) == ["pick/undo", "pay/undo"]
    assert asked(life.done("pay/undo")) == []
    assert asked(life.done("pick/undo")) == ["check/undo"]


def test_a_step_without_an_undo_does_not_break_the_order_around_it() -> None:
    """S17, I6: what came after it, however far, is undone before what came before it."""
    plan = Plan("line", 1, (planned("a", undo="un_a"), planned("b", "a"), planned("c", "b", undo="un_c")))
    life = started(plan, "a", "b", "c")

    assert asked(life.undo()) == ["c/undo"]
    assert asked(life.done("c/undo")) == ["a/undo"]


def test_a_step_in_doubt_is_undone_although_nobody_holds_it(life: Life) -> None:
    """S17, design rule 6: it ran past complete-by and was freed; its outcome is unknown."""
    life.overdue("ship")
    assert life.state("ship") is PENDING
    assert asked(life.undo()) == ["ship/undo"]


def test_a_step_in_error_is_undone_too_and_its_alert_is_over(life: Life) -> None:
    """S17: the operator who undoes need not be alerted of the error any more."""
    life.declined("ship")

    assert asked(life.undo()) == ["ship/undo"]
    assert life.step("ship").alert_by is None
    assert alerts(life.check(at=T0 + 10 * MINUTE)) == []


def test_a_compensation_has_a_key_of_its_own_and_sees_what_its_step_gave(life: Life) -> None:
    """S17, design rule 5: what it needs was stored while going forward."""
    (undo_ship,) = requests(life.undo())
    (undo_charge,) = requests(life.done("ship/undo"))

    assert undo_ship.idempotency_key == f"{ORDER_ID}/ship/undo"
    assert undo_charge.idempotency_key == f"{ORDER_ID}/charge/undo"
    assert (undo_charge.operation, undo_charge.attempt) == ("refund", 1)
    assert undo_charge.results["charge"] == {"ref": "charge"}
    assert "ship" not in undo_ship.results
    assert undo_ship.fence > life.request("ship").fence


def test_a_compensation_is_supervised_and_retried_as_any_step(life: Life) -> None:
    """S17, S12: under the same key, with a higher fence."""
    (first,) = requests(life.undo())

    assert [retry.step for retry in retries(life.overdue("ship/undo"))] == ["ship/undo"]
    (second,) = requests(life.retry("ship/undo", 1))

    assert (second.idempotency_key, second.attempt) == (first.idempotency_key, 2)
    assert second.fence > first.fence


def test_an_undo_that_fails_ends_in_undo_failed_and_names_the_remaining_effects(life: Life) -> None:
    """tl_compensation_fails, S17: an operator is alerted once; nothing before it is undone by accident."""
    life.undo()
    life.done("ship/undo")

    decision = life.declined("charge/undo", "card closed")

    assert life.task.process_state is UNDO_FAILED
    (alert,) = alerts(decision)
    assert (alert.step, alert.reason, alert.remaining_effects) == ("charge/undo", "card closed", ("reserve", "charge"))
    assert requests(decision) == []
    assert life.state("reserve/undo") is PENDING
    life.alerted("charge/undo")
    assert life.check(at=T0 + HOUR).messages == ()
    assert (life.task.due, life.task.needs_attention is not None) == (None, True)


def test_a_compensation_whose_attempts_are_used_up_is_raised_to_an_operator() -> None:
    """S17, S13, I5."""
    life = shipping(threshold=2)
    life.undo()

    assert [alert.step for alert in alerts(life.used_up("ship/undo"))] == ["ship/undo"]
    assert life.task.process_state is UNDO_FAILED
    assert life.step("ship/undo").failure_count == 2


def test_a_failed_undo_goes_on_from_the_compensation_that_failed(life: Life) -> None:
    """tl_compensation_fails, S7, S17: what was undone is not undone again."""
    life.undo()
    life.done("ship/undo")
    life.declined("charge/undo")
    life.alerted("charge/undo")

    (request,) = requests(life.resubmit("charge/undo", 1))
    assert (request.step, request.attempt, life.task.process_state) == ("charge/undo", 2, UNDOING)
    life.done("charge/undo")
    life.done("reserve/undo")

    assert life.task.process_state is UNDONE
    assert [request.step for request in life.asked].count("ship/undo") == 1
    assert life.task.ended_at is not None
    assert life.task.needs_attention is None


@pytest.mark.parametrize("command", ["undo", "cancel"])
def test_an_order_that_has_not_begun_is_undone_at_once(command: str) -> None:
    """S17: a start that comes later starts nothing."""
    life = Life(undoable())

    decision = getattr(life, command)()

    assert (life.task.process_state, life.task.due, decision.messages) == (UNDONE, None, ())
    assert (life.start().messages, life.retry("reserve", 0).messages) == ((), ())
    assert life.task.process_state is UNDONE


def test_a_cancel_in_mid_flight_undoes_what_was_done(life: Life) -> None:
    """S17, S19: the submitter asks, with who and why."""
    life.cancel()
    (entry,) = [entry for entry in life.task.history if entry.kind is HistoryKind.UNDO_BEGUN]
    assert (entry.by, entry.note, life.task.undoing) == ("shop", "no longer wanted", "no longer wanted")


def test_a_processed_order_can_be_undone(life: Life) -> None:
    """S17, I9: it had left the index, and is listed again."""
    life.done("ship")
    assert (life.task.process_state, life.task.due) == (PROCESSED, None)

    assert asked(life.undo()) == ["ship/undo"]

    assert life.task.due == life.step("ship/undo").complete_by
