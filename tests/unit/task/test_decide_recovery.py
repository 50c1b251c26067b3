"""What the Supervisor makes of steps that are overdue, and of steps that nobody has claimed."""

from dataclasses import replace

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Retry
from stepward.domain.task.deadlines import DeadlineCheck
from stepward.domain.task.decide import decide
from stepward.domain.task.record import ProcessState
from stepward.domain.timing import Timing
from tests.factories import (
    MINUTE,
    ORDER_ID,
    SECOND,
    T0,
    Life,
    again,
    alerts,
    answer,
    diamond,
    requests,
    retries,
    sequence,
)

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
MARGIN = Timing().skew_margin
OVERDUE = T0 + MINUTE + MARGIN


def running(threshold: int = 3) -> Life:
    life = Life(sequence("reserve", "ship", threshold=threshold))
    life.start()
    return life


def test_an_overdue_step_is_freed_and_asked_for_again() -> None:
    """S11, S12: unlocked, one more failure, a new CompleteBy, Pending; and the Scheduler is told."""
    life = running()

    decision = life.look(at=OVERDUE)

    record = life.step("reserve")
    assert (record.process_state, record.locked_by, record.failure_count) == (PENDING, None, 1)
    assert (record.not_before, record.complete_by) == (None, OVERDUE + life.timing.claim_within)
    assert decision.messages == (again(record, OVERDUE),)


def test_the_retry_runs_the_next_attempt() -> None:
    """S12, S16: a fresh token and a higher fence, the same idempotency key."""
    life = running()
    first = life.request("reserve")
    life.look(at=OVERDUE)

    (second,) = requests(life.retry("reserve", 1))

    assert (second.attempt, second.fence, second.idempotency_key) == (2, 2, first.idempotency_key)
    assert second.token != first.token
    assert second.complete_by == life.now + MINUTE
    assert OVERDUE <= life.now <= OVERDUE + SECOND


def test_who_was_overdue_and_by_how_much_is_told() -> None:
    life = running()

    (entry,) = life.look(at=OVERDUE + 7).history

    assert (entry.kind, entry.step, entry.attempt, entry.by, entry.value) == (
        HistoryKind.RECOVERED,
        "reserve",
        1,
        "scheduler-1",
        MARGIN + 7,
    )


@pytest.mark.parametrize("early", [1, MARGIN, MINUTE + MARGIN])
def test_a_step_within_complete_by_and_the_margin_is_left_alone(early: int) -> None:
    """tl_clock_skew: the Supervisor's clock may be ahead by the margin, and still no healthy step is recovered."""
    life = running()

    decision = life.look(at=OVERDUE - early)

    assert life.step("reserve").attempt == 1
    assert (life.state("reserve"), decision.messages, decision.history) == (PROCESSING, (), ())


@pytest.mark.parametrize(("margin", "recovered"), [(0, True), (30, True), (90, False)])
def test_the_margin_must_exceed_the_skew(margin: int, *, recovered: bool) -> None:
    """tl_clock_skew: the Scheduler stamps a deadline of 60 s; a Supervisor 60 s ahead looks at the 30th second."""
    life = Life(sequence("reserve"), Timing(skew_margin=margin * SECOND))
    life.start()

    life.look(at=T0 + 30 * SECOND + 60 * SECOND)

    assert (life.state("reserve") is PENDING) is recovered


@pytest.mark.parametrize("first", ["reply", "supervisor"])
def test_the_supervisor_and_a_reply_cannot_both_win(first: str) -> None:
    """tl_supervisor_vs_reply: whichever comes first, the other changes nothing."""
    life = running()
    reply = answer(life.request("reserve"))
    fast_clock, slow_clock = OVERDUE, T0 + MINUTE
    if first == "reply":
        life.apply(reply, at=slow_clock)
        before = life.task
        assert life.look(at=fast_clock).messages == ()
        assert life.task.steps == before.steps
        assert life.state("reserve") is PROCESSED
    else:
        life.look(at=fast_clock)
        before = life.task
        assert life.apply(reply, at=slow_clock).history[0].kind is HistoryKind.LATE_REPLY
        assert life.task is before
        assert life.state("reserve") is PENDING


def test_two_supervisors_recover_a_step_once() -> None:
    """tl_two_supervisors, S15: the loser reads again, and finds nothing overdue."""
    life = running()
    life.look(at=OVERDUE, by="supervisor-1")
    before = life.task

    decision = life.look(at=OVERDUE, by="supervisor-2")

    assert (decision.task, decision.messages) == (before, ())
    assert life.step("reserve").failure_count == 1


def test_two_supervisors_write_on_the_same_revision() -> None:
    """tl_two_supervisors: both decide on what they read, so only one of the two writes can be taken."""
    life = running()
    both = [
        decide(life.task, life.plan, DeadlineCheck(), now=OVERDUE, by=name, timing=life.timing)
        for name in ("one", "another")
    ]

    assert {decision.task.revision for decision in both} == {life.task.revision + 1}


def test_a_zombie_completes_nothing() -> None:
    """tl_zombie_reply: attempt 1 answers while attempt 2 runs; only 2 counts, and the next step is asked once."""
    life = running()
    first = life.request("reserve")
    life.look(at=OVERDUE)
    life.retry("reserve", 1)
    second = life.request("reserve")

    zombie = life.apply(answer(first, result={"ref": "r-77"}), at=OVERDUE + 4)
    assert (zombie.messages, life.state("reserve")) == ((), PROCESSING)
    assert [(entry.kind, entry.attempt) for entry in zombie.history] == [(HistoryKind.LATE_REPLY, 1)]

    decision = life.apply(answer(second, result={"ref": "r-77"}), at=OVERDUE + 9)
    assert [request.step for request in requests(decision)] == ["ship"]
    assert life.step("reserve").result == {"ref": "r-77"}


def test_a_zombies_error_fails_nothing() -> None:
    """tl_zombie_reply, S7: an error reply is compared as strictly as a success."""
    life = running()
    first = life.request("reserve")
    life.look(at=OVERDUE)
    life.retry("reserve", 1)

    decision = life.apply(answer(first, Outcome.PERMANENT, error="stale fence"))

    assert (decision.messages, life.state("reserve")) == ((), PROCESSING)


def test_a_request_that_was_never_sent_is_a_failed_attempt_like_any_other() -> None:
    """tl_crash_between_write_and_send, S11, S16: no reply ever comes; the order ends without an operator."""
    life = running()
    life.asked.clear()

    life.look(at=OVERDUE)
    life.retry("reserve", 1)
    life.done("reserve")
    life.done("ship")

    assert life.task.process_state is PROCESSED


def test_a_lost_start_is_found() -> None:
    """S12, I1: a task that nobody has begun is due too, and no failure is counted."""
    life = Life(sequence("reserve", "ship"))

    decision = life.look(at=T0 + MINUTE + MARGIN)

    assert decision.messages == (Retry(ORDER_ID, "reserve", 0),)
    assert (life.step("reserve").failure_count, decision.history[0].kind) == (0, HistoryKind.REMINDED)
    assert [request.step for request in requests(life.retry("reserve", 0))] == ["reserve"]


def test_a_start_that_was_lost_and_found_may_still_come() -> None:
    """Design rule 1: a late `start` and the reminder are two causes of one claim."""
    life = Life(sequence("reserve", "ship"))
    life.look(at=T0 + MINUTE + MARGIN)
    life.start()

    assert life.retry("reserve", 0).messages == ()
    assert life.step("reserve").attempt == 1


def test_a_lost_retry_is_found() -> None:
    """I1: a step that waits for a Scheduler is asked for again, and no failure is counted for that."""
    life = running()
    life.look(at=OVERDUE)
    waited = OVERDUE + life.timing.claim_within + MARGIN

    assert life.look(at=waited - 1).messages == ()
    assert life.look(at=waited).messages == (Retry(ORDER_ID, "reserve", 1),)
    assert life.step("reserve").failure_count == 1


def test_a_reminder_does_not_come_with_every_look() -> None:
    """S12: the cost of the Supervisor follows what is overdue."""
    life = Life(sequence("reserve", "ship"))
    life.look(at=T0 + MINUTE + MARGIN)

    assert life.look(at=T0 + MINUTE + MARGIN + 1).messages == ()


def test_at_the_threshold_the_step_ends_in_error_and_an_operator_is_told() -> None:
    """S13, I5: FailureCount reaches the threshold and never passes it."""
    life = running(threshold=2)
    life.look(at=OVERDUE)
    life.retry("reserve", 1)

    decision = life.look(at=life.now + MINUTE + MARGIN)

    record = life.step("reserve")
    assert (record.process_state, record.failure_count) == (ERROR, 2)
    assert (record.locked_by, record.complete_by) == (None, None)
    assert [(alert.step, alert.attempt, alert.reason) for alert in alerts(decision)] == [
        ("reserve", 2, "no answer within complete-by, 2 of 2 times")
    ]
    assert retries(decision) == []
    assert life.task.process_state is ERROR


def test_a_threshold_of_one_ends_at_the_first_failure() -> None:
    """S13."""
    life = running(threshold=1)

    life.look(at=OVERDUE)

    assert (life.state("reserve"), life.step("reserve").failure_count) == (ERROR, 1)


def test_both_overdue_steps_of_a_graph_are_recovered_in_one_write() -> None:
    """S12."""
    life = Life(diamond())
    life.start()
    life.done("check")
    revision = life.task.revision

    decision = life.look(at=OVERDUE)

    assert [retry.step for retry in retries(decision)] == ["pick", "pay"]
    assert life.task.revision == revision + 1


def test_only_the_overdue_step_of_a_graph_is_recovered() -> None:
    """S12."""
    life = Life(diamond())
    life.start()
    life.done("check")
    life.task = replace(
        life.task, steps={**life.task.steps, "pay": replace(life.step("pay"), complete_by=OVERDUE + MINUTE)}
    )

    assert [retry.step for retry in retries(life.look(at=OVERDUE))] == ["pick"]
    assert (life.state("pay"), life.step("pay").failure_count) == (PROCESSING, 0)
