"""S24: past an order's complete-by nothing starts any more, and its workflow's policy applies, once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Notice
from stepward.domain.task.change import Decision
from stepward.domain.task.record import ProcessState, TimeLimit
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.task.worst_case import overtime, worst_case
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Exhausted, Plan
from tests.factories import (
    HOUR,
    MINUTE,
    SECOND,
    T0,
    Life,
    alerts,
    asked,
    diamond,
    kinds,
    planned,
    requests,
    retries,
    sequence,
    started,
)

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState
LIMIT = T0 + 90 * SECOND
LATE = LIMIT + Timing().skew_margin
"""The moment from which the Supervisor may act."""
PASSED = "the order's complete-by, 2027-01-15T08:01:30Z, has passed"
QUEUE = "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop"


LINE = sequence("reserve", "charge", "ship", complete_within=2 * MINUTE, undo="back")


def limited(plan: Plan, on_timeout: Exhausted = Exhausted.ALERT) -> Plan:
    """The plan, with a minute and a half for the whole order."""
    return replace(plan, complete_within=LIMIT - T0, on_timeout=on_timeout)


def alerting(*done: str, **how: Any) -> Life:
    """Some steps are done in a workflow that alerts."""
    return started(limited(LINE), *done, **how)


def undoing(*done: str) -> Life:
    """Some steps are done in a workflow that undoes."""
    return started(limited(LINE, Exhausted.UNDO), *done)


@pytest.mark.parametrize("of_workflow", [None, LIMIT - T0, 3 * LIMIT])
@pytest.mark.parametrize("own", [None, LIMIT, 3 * LIMIT])
def test_the_earlier_limit_counts_the_orders_own_or_its_workflows(own: int | None, of_workflow: int | None) -> None:
    life = Life(replace(sequence("reserve"), complete_within=of_workflow), complete_by=own)
    limits = [*([own] if own else []), *([T0 + of_workflow] if of_workflow else [])]
    assert life.task.limit(life.plan) == min(limits, default=None)


def test_what_runs_may_end_and_nothing_starts_after_it() -> None:
    life = alerting()

    decision = life.done("reserve", at=LIMIT - 30 * SECOND)
    assert asked(decision) == ["charge"]
    decision = life.done("charge", at=LIMIT)

    assert (life.state("charge"), life.state("ship"), requests(decision)) == (PROCESSED, PENDING, [])
    assert life.task.due is not None
    assert life.task.due <= LIMIT


@pytest.mark.parametrize("tried", [Life.start, Life.resume, lambda life: life.retry("charge", 0)])
def test_no_message_starts_a_step_past_it(tried: Callable[[Life], Decision]) -> None:
    life = alerting()
    life.pause()
    life.done("reserve", at=LIMIT - 50 * SECOND)
    life.task = replace(life.task, paused="" if tried is not Life.resume else "counting")

    life.now = LIMIT
    assert requests(tried(life)) == []
    assert life.state("charge") is PENDING


def test_an_alert_ends_the_next_step_in_error_and_says_why_once() -> None:
    life = alerting("reserve", reply_to=QUEUE)
    life.done("charge", at=LIMIT)

    decision = life.check(at=LATE)

    (alert,) = alerts(decision)
    assert (alert.step, alert.attempt, alert.reason) == ("ship", 0, f"{PASSED}; a resubmission lifts it")
    assert (life.task.process_state, life.task.time_limit) == (ERROR, TimeLimit.PASSED)
    assert kinds(decision) == [HistoryKind.TIMED_OUT, HistoryKind.FAILED]
    assert [(notice.status, notice.reason) for notice in life.notices[-1:]] == [("failed", "complete-by")]
    assert life.ignored(life.check())
    life.alerted("ship")
    assert life.task.due is None


def test_the_supervisor_waits_until_it_has_passed_by_every_clock() -> None:
    life = alerting("reserve")
    assert life.check(at=LATE - 1).messages == ()
    assert life.task.due is not None
    assert life.task.due <= LIMIT


def test_a_step_beside_the_one_in_error_may_end_its_attempt_and_gets_no_other() -> None:
    life = started(limited(diamond(complete_within=2 * MINUTE)), "check", "pick")
    assert [alert.step for alert in alerts(life.check(at=LATE))] == ["ship"]

    assert requests(life.done("pay", at=LATE + SECOND)) == []
    assert (life.state("pay"), life.state("ship")) == (PROCESSED, ERROR)


@pytest.mark.parametrize("answers", [True, False])
def test_a_last_step_that_runs_may_end_and_is_not_tried_again(*, answers: bool) -> None:
    """There is nothing to stop while it runs; afterwards the operator is alerted."""
    life = Life(limited(sequence("reserve", complete_within=2 * MINUTE)))
    life.start()
    life.check(at=LATE)
    assert (life.state("reserve"), life.task.due) == (PROCESSING, T0 + 2 * MINUTE)
    if answers:
        life.done("reserve")
        assert (life.task.process_state, life.task.due) == (PROCESSED, None)
    else:
        assert retries(life.overdue("reserve")) == []
        assert [alert.step for alert in alerts(life.check())] == ["reserve"]


def test_a_resubmission_lifts_it() -> None:
    """And the order is not stopped a second time."""
    life = alerting("reserve", reply_to=QUEUE)
    life.done("charge", at=LIMIT)
    life.check(at=LATE)

    assert asked(life.resubmit("ship", 0, at=LATE + HOUR)) == ["ship"]
    assert life.task.time_limit is TimeLimit.LIFTED
    life.overdue("ship")
    assert asked(life.retry("ship", 1)) == ["ship"]
    life.declined("ship")
    assert life.notices[-1].reason == ""


@pytest.mark.parametrize(("at", "left"), [(LIMIT - 1, TimeLimit.HOLDS), (LIMIT, TimeLimit.LIFTED)])
def test_a_resubmission_lifts_it_only_once_it_has_passed(at: int, left: TimeLimit) -> None:
    """An order in Error waits for nothing but its operator; in time again, it is due at its limit."""
    life = alerting("reserve")
    life.declined("charge")
    life.alerted("charge")
    assert life.task.due is None

    assert asked(life.resubmit("charge", 1, at=at)) == ["charge"]
    assert life.task.time_limit is left
    assert life.task.due == (LIMIT if left is TimeLimit.HOLDS else at + 2 * MINUTE)


@pytest.mark.parametrize("halted", ["runs", "in error", "paused"])
def test_an_undo_fences_what_runs_whoever_the_order_waits_for(halted: str) -> None:
    """A pause does not stop the clock; it holds back the compensations, as it does after any policy."""
    life = undoing("reserve")
    if halted == "in error":
        life.declined("charge")
    if halted == "paused":
        life.pause()

    decision = life.check(at=LATE)

    assert (life.task.process_state, life.task.undoing) == (UNDOING, PASSED)
    assert (life.state("charge"), life.state("ship")) == (STOPPED, STOPPED)
    assert kinds(decision) == [HistoryKind.TIMED_OUT, HistoryKind.UNDO_BEGUN]
    assert [retry.step for retry in retries(decision)] == ([] if halted == "paused" else ["charge/undo"])
    assert life.ignored(life.check())


def test_an_order_that_never_began_is_undone_at_once() -> None:
    life = Life(limited(LINE, Exhausted.UNDO), reply_to=QUEUE)
    life.check(at=LATE)
    assert life.task.process_state is UNDONE
    assert [(notice.status, notice.reason) for notice in life.notices] == [("received", ""), ("undone", "complete-by")]
    assert requests(life.start()) == []


def test_the_reply_to_the_last_step_and_the_supervisor_do_not_both_win() -> None:
    """I5, I6: whoever writes first decides, and the other finds it decided."""
    first = undoing("reserve", "charge")
    first.done("ship", at=LATE)
    assert first.ignored(first.check())
    assert (first.task.process_state, first.task.due) == (PROCESSED, None)

    second = undoing("reserve", "charge")
    second.check(at=LATE)
    second.done("ship")
    assert second.task.process_state is UNDOING
    assert second.count(HistoryKind.LATE_EFFECT) == 1


def test_past_the_point_of_no_return_an_undo_becomes_an_alert() -> None:
    steps = planned("tell", complete_within=2 * MINUTE, point_of_no_return=True), planned("ship", "tell")
    life = started(limited(Plan("line", 1, steps), Exhausted.UNDO))

    life.done("tell", at=LIMIT)

    (alert,) = alerts(life.check(at=LATE))
    assert alert.reason == f"{PASSED}; it cannot be undone past tell; a resubmission lifts it"
    assert asked(life.resubmit("ship", 0)) == ["ship"]


def test_a_resubmission_of_what_is_about_to_be_undone_is_refused() -> None:
    life = undoing("reserve")
    life.declined("charge")

    refused = life.resubmit("charge", 1, at=LIMIT).refusal

    assert refused is not None
    assert (refused.code, refused.text[:37]) == (RefusalCode.TIMED_OUT, "the order is past its complete-by, an")
    assert life.state("charge") is ERROR


@pytest.mark.parametrize("at", [LIMIT - SECOND, LIMIT])
@pytest.mark.parametrize("on_timeout", [Exhausted.ALERT, Exhausted.UNDO])
def test_an_undo_by_hand_has_no_limit(on_timeout: Exhausted, at: int) -> None:
    """And the submitter hears of its own wish, not of the limit."""
    life = started(limited(LINE, on_timeout), "reserve", reply_to=QUEUE)
    life.cancel(at=at)
    life.check(at=LATE)

    assert asked(life.done("charge/undo")) == ["reserve/undo"]
    assert life.count(HistoryKind.TIMED_OUT) == 0
    assert {notice.reason for notice in life.notices} == {""}


def test_a_cancellation_after_the_alert_is_its_own_reason() -> None:
    life = alerting("reserve", reply_to=QUEUE)
    life.done("charge", at=LIMIT)
    life.check(at=LATE)
    life.cancel()

    reasons: list[Notice] = [notice for notice in life.notices if notice.status == "undoing"]
    assert [notice.reason for notice in reasons] == [""]


@pytest.mark.parametrize(("limit", "due"), [(20 * SECOND, 20 * SECOND), (HOUR, MINUTE)])
def test_a_new_task_is_due_no_later_than_its_own_limit(limit: int, due: int) -> None:
    """I9: nobody may ever start it."""
    assert Life(sequence("reserve"), complete_by=T0 + limit).task.due == T0 + due
    assert Life(replace(sequence("reserve"), complete_within=limit)).task.due == T0 + due


def test_a_smooth_run_within_a_limit_writes_the_index_twice() -> None:
    """S12: once at submission, once when the task ends."""
    life = Life(limited(sequence("reserve", "ship")), complete_by=T0 + HOUR)
    assert [life.task.due, life.start().task.due, life.done("reserve").task.due] == [T0 + MINUTE] * 3
    assert life.done("ship").task.due is None


def test_the_worst_case_knows_the_limit() -> None:
    """Behind it only the last attempts and an undo take time; once it is lifted, the whole path may."""
    plan, timing = sequence("reserve", "ship", complete_within=MINUTE, undo="back"), Timing()
    there = worst_case(sequence("reserve", "ship", complete_within=MINUTE), timing)
    back, found = worst_case(plan, timing) - there, timing.skew_margin + timing.claim_within
    life = Life(plan, complete_by=LIMIT)

    assert overtime(life.task, plan, T0, timing) == -(LIMIT - T0 + MINUTE + 2 * found + back)
    lifted = replace(life.task, time_limit=TimeLimit.LIFTED)
    assert overtime(lifted, plan, T0, timing) == -worst_case(plan, timing)
    assert overtime(replace(life.task, complete_by=9 * LIMIT), plan, T0, timing) == -worst_case(plan, timing)
