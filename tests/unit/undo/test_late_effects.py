"""S17: answers and messages that come when an undo has begun, or is over."""

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from tests.factories import ORDER_ID, UNDOES, answer, asked, kinds, planned, requests, retries, shipping, started

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


def test_a_forward_reply_after_the_undo_began_completes_nothing() -> None:
    """S17: the step stays fenced."""
    life = shipping()
    life.undo()

    life.done("ship")

    assert (life.before.process_state, life.task.process_state, life.state("ship")) == (UNDOING, UNDOING, STOPPED)
    assert life.count(HistoryKind.LATE_EFFECT) == 1


def test_an_undo_under_way_when_the_effect_is_reported_is_done_once_more() -> None:
    """S17, I6: it may have come before the effect, at a service that keeps no tombstone; its answer proves nothing."""
    life = shipping()
    late = answer(life.request("ship"))
    life.undo()
    early = answer(life.request("ship/undo"))

    (request,) = requests(life.apply(late))

    assert (request.step, request.attempt, request.idempotency_key) == ("ship/undo", 2, f"{ORDER_ID}/ship/undo")
    assert kinds(life.apply(early)) == [HistoryKind.LATE_REPLY]
    assert (life.state("ship/undo"), life.state("charge/undo")) == (PROCESSING, PENDING)
    life.done("ship/undo")
    assert (life.state("ship/undo"), life.state("charge/undo")) == (PROCESSED, PROCESSING)


def test_a_late_success_after_undone_is_undone_again() -> None:
    """tl_reply_for_compensated_order, S17, I6: under the same key, with the result at hand; an operator can see it.

    A copy of the request may come later still, to a service that forgets its keys, and work once more.
    """
    life = shipping()
    late = answer(life.request("ship"), result={"ref": "charge-9"})
    assert life.undone().task.process_state is UNDONE

    (request,) = requests(life.apply(late))

    assert (request.step, request.attempt, request.idempotency_key) == ("ship/undo", 2, f"{ORDER_ID}/ship/undo")
    assert request.results["ship"] == {"ref": "charge-9"}
    assert (life.task.process_state, life.count(HistoryKind.LATE_EFFECT)) == (UNDOING, 1)
    assert life.task.due == life.step("ship/undo").complete_by

    again = life.apply(late)
    assert kinds(again) == [HistoryKind.LATE_REPLY]
    assert requests(again) == [request], "its first request may be lost"
    assert life.done("ship/undo").task.process_state is UNDONE

    (third,) = requests(life.apply(late))
    assert (third.step, third.attempt) == ("ship/undo", 3)
    assert life.done("ship/undo").task.process_state is UNDONE


def test_a_late_refusal_after_undone_changes_nothing() -> None:
    """S17: it had no effect, so there is nothing to undo."""
    life = shipping()
    late = answer(life.request("ship"), Outcome.PERMANENT, error="no stock")
    life.undone()

    assert life.ignored(life.apply(late))


def test_an_answer_to_an_earlier_attempt_is_no_late_effect() -> None:
    """Design rule 5: all attempts share the key that was undone."""
    life = shipping()
    first = answer(life.request("ship"))
    life.overdue("ship")
    life.retry("ship", 1)
    life.undo()

    assert kinds(life.apply(first)) == [HistoryKind.LATE_REPLY]
    assert life.task is life.before


def test_a_reply_that_comes_again_asks_again_for_the_next_compensation() -> None:
    """Design rule 1: the crash was between write and send."""
    life = shipping()
    life.undo()
    reply = answer(life.request("ship/undo"))
    first, second = life.apply(reply), life.apply(reply)

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert asked(first) == ["charge/undo"]


def test_a_retry_of_a_compensation_claims_it_in_turn_only() -> None:
    """I6: whoever asks, a compensation waits for those of the steps after it."""
    life = shipping()
    begun = life.undo().task
    assert (life.retry("charge/undo", 0).task, life.retry("reserve/undo", 0).messages) == (begun, ())


def test_a_lost_request_to_undo_is_found() -> None:
    """I1, I9: the Supervisor sends a reminder of its own message, too."""
    life = shipping(threshold=1, exhausted=(UNDOES,))
    life.overdue("ship")
    assert life.task.due is not None

    decision = life.check(at=life.task.due + 2 * life.timing.claim_within)

    assert [retry.step for retry in retries(decision)] == ["ship/undo"]


def test_an_undo_beside_an_error_of_the_same_check_is_not_notified_as_an_error() -> None:
    """S13, S17: the second threshold undoes what the first one had halted."""
    steps = (planned("pick", threshold=1, undo="unpick"), planned("pay", threshold=1, exhausted=(UNDOES,)))
    life = started(Plan("fork", 1, steps), reply_to="queue")

    assert life.overdue("pick").task.process_state is UNDOING
    assert {life.state("pick"), life.state("pay")} == {STOPPED}
    assert "failed" not in [notice.status for notice in life.notices]
