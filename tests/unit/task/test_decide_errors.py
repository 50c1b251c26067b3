"""Steps that end in Error: who is alerted, how often, and how an operator runs them again."""

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import StepFailed
from stepward.domain.task.change import Decision
from stepward.domain.task.decide import AlertSent
from stepward.domain.task.record import ProcessState
from stepward.domain.timing import Timing
from tests.decisions import alerts, asked, kinds, requests, retries
from tests.factories import MINUTE, ORDER_ID, T0, Life, diamond, sequence, started

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
TIMING = Timing()


def declined() -> tuple[Life, Decision]:
    """`charge` is in Error."""
    life = started(sequence("reserve", "charge", "ship"), "reserve")
    return life, life.declined("charge", at=T0 + 100)


def halted() -> Life:
    """`pay` is in Error, and `pick` runs beside it."""
    life = started(diamond(), "check")
    life.declined("pay")
    return life


def test_a_permanent_fault_ends_the_step_in_error_at_once() -> None:
    """S7: the reason is stored, nothing more is claimed, and an operator is alerted."""
    life, decision = declined()

    record = life.step("charge")
    assert (record.process_state, record.error, record.ended_at) == (ERROR, "card declined", T0 + 100)
    assert (record.locked_by, record.complete_by, record.failure_count) == (None, None, 0)
    assert decision.messages == (StepFailed(ORDER_ID, "charge", 1, "card declined", T0 + 100),)
    assert (life.state("ship"), life.task.process_state) == (PENDING, ERROR)


def test_an_agent_that_gives_no_reason_is_alerted_of_as_such() -> None:
    (alert,) = alerts(started(sequence("reserve")).declined("reserve", error=""))
    assert alert.reason == "the agent gave no reason"


def test_an_error_stays_due_until_an_operator_is_told() -> None:
    """S7, I1, I9: the index lists it until the alert is confirmed, and the operator is alerted once."""
    life, _ = declined()
    assert life.task.due is not None
    assert life.task.due <= T0 + 100 + TIMING.claim_within

    after = life.alerted("charge").task

    assert (after.due, after.steps["charge"].alert_by) == (None, None)
    assert life.alerted("charge").task is after, "a confirmation that comes twice writes nothing"
    assert life.count(HistoryKind.ALERTED) == 1
    assert life.ignored(life.check(at=T0 + 60 * MINUTE))


def test_an_alert_that_is_not_confirmed_is_sent_again() -> None:
    """S7, I1: the same alert under the same name, until it is out."""
    life, first = declined()
    due = T0 + 100 + TIMING.claim_within + TIMING.skew_margin

    assert alerts(life.check(at=due - 1)) == []
    again = alerts(life.check(at=due))
    assert again == alerts(first)
    assert [alert.alert_id for alert in again] == [f"{ORDER_ID}/charge/1"]
    assert alerts(life.check(at=due + 1)) == []
    assert alerts(life.check(at=due + TIMING.claim_within + TIMING.skew_margin)) == again


def test_a_confirmation_of_an_earlier_error_does_not_silence_a_later_one() -> None:
    """S7, I1: the alert of attempt 1 was sent; attempt 2 is another one."""
    life, _ = declined()
    life.resubmit("charge", 1)
    life.declined("charge")

    life.apply(AlertSent("charge", 1))

    assert life.step("charge").alert_by is not None


def test_an_error_reply_that_comes_twice_alerts_again_only_if_nobody_was_alerted() -> None:
    """Design rule 1: crash between write and alert; the redelivered reply sends it, a confirmed one is quiet."""
    life, first = declined()
    assert alerts(life.declined("charge")) == alerts(first)

    life.alerted("charge")

    assert life.declined("charge").messages == ()


def test_an_operator_runs_a_failed_step_again() -> None:
    """S7: from where it stood; the count starts afresh, the attempt and the fence go on."""
    life, _ = declined()

    (request,) = requests(life.resubmit("charge", 1, at=T0 + 500))

    record = life.step("charge")
    assert (record.process_state, record.failure_count, record.attempt) == (PROCESSING, 0, 2)
    assert (record.error, record.alert_by, record.ended_at) == (None, None, None)
    assert (request.step, request.fence, request.idempotency_key) == ("charge", 3, f"{ORDER_ID}/charge")
    entry = next(entry for entry in life.task.history if entry.kind is HistoryKind.RESUBMITTED)
    assert (entry.step, entry.attempt, entry.by, entry.note) == ("charge", 1, "ada", "card replaced")
    life.done("charge")
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_a_step_resubmitted_after_its_threshold_has_all_attempts_again() -> None:
    """S7, I5."""
    life = started(sequence("reserve", threshold=1))
    life.check(at=T0 + 2 * MINUTE)

    life.resubmit("reserve", 1)
    assert (life.state("reserve"), life.step("reserve").failure_count) == (PROCESSING, 0)
    life.check(at=life.now + 2 * MINUTE)

    assert (life.state("reserve"), life.step("reserve").failure_count) == (ERROR, 1)


def test_a_double_click_runs_the_step_once() -> None:
    """resubmit_done_step, S18: the second is refused with a reason, and sends again what the first claimed."""
    life, _ = declined()
    first = life.resubmit("charge", 1)

    second = life.resubmit("charge", 1)

    assert second.task is first.task
    assert requests(second) == requests(first)
    assert [(entry.kind, entry.note) for entry in second.history] == [
        (HistoryKind.REFUSED, "nothing to resubmit: the step is Processing at attempt 2")
    ]


@pytest.mark.parametrize(("meanwhile", "state"), [("done", "Processed"), ("declined", "Error")])
def test_a_click_on_an_earlier_error_is_refused(meanwhile: str, state: str) -> None:
    """resubmit_done_step, S7: the operator saw attempt 1 fail, not attempt 2; no second call of the remote service."""
    life, _ = declined()
    life.resubmit("charge", 1)
    getattr(life, meanwhile)("charge")

    decision = life.resubmit("charge", 1)

    assert life.ignored(decision)
    assert decision.history[0].note == f"nothing to resubmit: the step is {state} at attempt 2"


@pytest.mark.parametrize("step", ["reserve", "ship"])
def test_a_click_on_a_step_that_has_not_failed_is_refused(step: str) -> None:
    """S7."""
    life, _ = declined()

    decision = life.resubmit(step, life.step(step).attempt)

    assert (decision.task, requests(decision)) == (life.before, [])
    assert life.count(HistoryKind.REFUSED) == 1


def test_a_reply_to_the_attempt_that_was_resubmitted_changes_nothing() -> None:
    """Design rule 4."""
    life, _ = declined()
    stale = life.request("charge")
    life.resubmit("charge", 1)
    life.asked.append(stale)

    assert kinds(life.done("charge")) == [HistoryKind.LATE_REPLY]
    assert (life.state("charge"), life.step("charge").attempt) == (PROCESSING, 2)


def test_a_step_beside_an_error_still_completes_but_starts_nothing() -> None:
    """S1, I3: what runs may end; what comes after it waits for the operator."""
    life = halted()

    assert asked(life.done("pick")) == []
    assert (life.state("pick"), life.state("ship")) == (PROCESSED, PENDING)

    life.resubmit("pay", 1)
    life.done("pay")
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_one_click_revives_all_that_the_error_had_halted() -> None:
    """S7, I1: the step beside it that was freed meanwhile is claimed in the same write."""
    life = halted()
    life.check(at=T0 + 2 * MINUTE)
    assert asked(life.resubmit("pay", 1, at=life.step("pick").not_before)) == ["pick", "pay"]


def test_a_task_of_two_errors_goes_on_when_both_are_resubmitted() -> None:
    """S7, I1: the first click waits for the second, and nothing is left behind."""
    life = halted()
    life.declined("pick")
    life.alerted("pay")
    life.alerted("pick")

    assert asked(life.resubmit("pay", 1)) == []
    assert (life.state("pay"), life.task.process_state) == (PENDING, ERROR)
    assert set(asked(life.resubmit("pick", 1))) == {"pick", "pay"}


def test_a_halted_task_starts_nothing_new() -> None:
    """S1, S7: while one step is in Error, a step beside it is freed but not run again."""
    life = halted()

    assert retries(life.check(at=T0 + 2 * MINUTE)) == []
    assert life.state("pick") is PENDING
    assert life.retry("pick", 1).messages == ()
    assert life.start().messages == ()


def test_an_alert_that_a_step_waits_does_not_confirm_its_error() -> None:
    """S13: a sender that was held up in between confirms what it sent, and nothing else."""
    life, _ = declined()
    life.apply(AlertSent("charge", 1, waits=True))
    assert life.step("charge").alert_by is not None
