"""What the Supervisor does about steps that are overdue, and about steps that nobody has claimed."""

from dataclasses import replace

import pytest

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Retry
from stepward.domain.task.decide import decide
from stepward.domain.task.record import ProcessState
from stepward.domain.timing import Timing
from tests.decisions import alerts, asked, kinds, requests, retries
from tests.factories import MINUTE, ORDER_ID, SECOND, T0, Life, again, answer, diamond, sequence, started

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
MARGIN = Timing().skew_margin
OVERDUE = T0 + MINUTE + MARGIN


@pytest.fixture
def side_by_side() -> Life:
    """`pick` and `pay` run."""
    return started(diamond(), "check")


def test_an_overdue_step_is_freed_and_asked_for_again(life: Life) -> None:
    """S11, S12: unlocked, one more failure, a new CompleteBy, Pending; and the Scheduler gets a retry."""
    decision = life.check(at=OVERDUE)

    record = life.step("reserve")
    assert (record.process_state, record.locked_by, record.failure_count) == (PENDING, None, 1)
    assert (record.not_before, record.complete_by) == (None, OVERDUE + life.timing.claim_within)
    assert decision.messages == (again(record, OVERDUE),)


def test_the_retry_runs_the_next_attempt(life: Life) -> None:
    """S12, S16: a fresh token and a higher fence, the same idempotency key."""
    first = life.request("reserve")
    life.check(at=OVERDUE)

    (second,) = requests(life.retry("reserve", 1))

    assert (second.attempt, second.fence, second.idempotency_key) == (2, 2, first.idempotency_key)
    assert second.token != first.token
    assert second.complete_by == life.now + MINUTE
    assert OVERDUE <= life.now <= OVERDUE + SECOND


def test_the_history_says_who_was_overdue_and_by_how_much(life: Life) -> None:
    (entry,) = life.check(at=OVERDUE + 7).history
    assert (entry.kind, entry.step, entry.attempt) == (HistoryKind.RECOVERED, "reserve", 1)
    assert (entry.by, entry.value) == ("scheduler-1", MARGIN + 7)


@pytest.mark.parametrize("early", [1, MARGIN, MINUTE + MARGIN])
def test_a_step_within_complete_by_and_the_margin_is_left_alone(life: Life, early: int) -> None:
    """tl_clock_skew: the Supervisor's clock may be ahead by the margin, and still no healthy step is recovered."""
    decision = life.check(at=OVERDUE - early)
    assert life.step("reserve").attempt == 1
    assert (life.state("reserve"), decision.messages, decision.history) == (PROCESSING, (), ())


@pytest.mark.parametrize(("margin", "recovered"), [(0, True), (30, True), (90, False)])
def test_the_margin_must_exceed_the_skew(margin: int, *, recovered: bool) -> None:
    """tl_clock_skew: the Scheduler stamps a deadline of 60 s; a Supervisor 60 s ahead checks at the 30th second."""
    life = started(sequence("reserve"), timing=Timing(skew_margin=margin * SECOND))
    life.check(at=T0 + 30 * SECOND + 60 * SECOND)
    assert (life.state("reserve") is PENDING) is recovered


def test_the_supervisor_finds_nothing_after_a_reply(life: Life) -> None:
    """tl_supervisor_vs_reply: whichever comes first, the other changes nothing."""
    life.done("reserve", at=T0 + MINUTE)

    assert life.check(at=OVERDUE).messages == ()
    assert life.task.steps == life.before.steps
    assert life.state("reserve") is PROCESSED


def test_a_reply_after_the_supervisor_changes_nothing(life: Life) -> None:
    """tl_supervisor_vs_reply: though the Scheduler's clock is slower."""
    life.check(at=OVERDUE)

    assert kinds(life.done("reserve", at=T0 + MINUTE)) == [HistoryKind.LATE_REPLY]
    assert life.task is life.before
    assert life.state("reserve") is PENDING


def test_two_supervisors_recover_a_step_once(life: Life) -> None:
    """tl_two_supervisors, S15: the loser reads again, and finds nothing overdue."""
    life.check(at=OVERDUE, by="supervisor-1")
    assert life.ignored(life.check(at=OVERDUE, by="supervisor-2"))
    assert life.step("reserve").failure_count == 1


def test_two_supervisors_write_on_the_same_revision(life: Life) -> None:
    """tl_two_supervisors: both decide on what they read, so only one of the two writes can be taken."""
    for name in ("one", "another"):
        decision = decide(life.task, life.plan, DeadlineCheck(), now=OVERDUE, by=name, timing=life.timing)
        assert decision.task.revision == life.task.revision + 1


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.PERMANENT])
def test_a_zombie_completes_nothing(life: Life, outcome: Outcome) -> None:
    """tl_zombie_reply, S7: attempt 1 answers while attempt 2 runs; only 2 counts, and the next step is asked once."""
    first = life.request("reserve")
    life.check(at=OVERDUE)
    life.retry("reserve", 1)
    second = life.request("reserve")

    zombie = life.apply(answer(first, outcome, error="stale fence", result={"ref": "r-77"}), at=OVERDUE + 4)
    assert (zombie.messages, life.state("reserve")) == ((), PROCESSING)
    assert [(entry.kind, entry.attempt) for entry in zombie.history] == [(HistoryKind.LATE_REPLY, 1)]

    assert asked(life.apply(answer(second, result={"ref": "r-77"}), at=OVERDUE + 9)) == ["ship"]
    assert life.step("reserve").result == {"ref": "r-77"}


def test_a_request_that_was_never_sent_is_a_failed_attempt_like_any_other(life: Life) -> None:
    """tl_crash_between_write_and_send, S11, S16: no reply ever comes; the order ends without an operator."""
    life.asked.clear()
    life.check(at=OVERDUE)
    life.retry("reserve", 1)
    life.done("reserve")
    life.done("ship")

    assert life.task.process_state is PROCESSED


def test_a_lost_start_is_found(fresh: Life) -> None:
    """S12, I1: a task that nobody has begun is due too, and no failure is counted."""
    decision = fresh.check(at=OVERDUE)

    assert decision.messages == (Retry(ORDER_ID, "reserve", 0),)
    assert (fresh.step("reserve").failure_count, decision.history[0].kind) == (0, HistoryKind.REMINDED)
    assert fresh.check(at=OVERDUE + 1).messages == (), "the cost of the Supervisor follows what is overdue"
    assert asked(fresh.retry("reserve", 0)) == ["reserve"]


def test_a_start_that_was_lost_and_found_may_still_come(fresh: Life) -> None:
    """Design rule 1: a late `start` and the reminder are two causes of one claim."""
    fresh.check(at=OVERDUE)
    fresh.start()

    assert fresh.retry("reserve", 0).messages == ()
    assert fresh.step("reserve").attempt == 1


def test_a_lost_retry_is_found(life: Life) -> None:
    """I1: a step that waits for a Scheduler is asked for again, and no failure is counted for that."""
    life.check(at=OVERDUE)
    waited = OVERDUE + life.timing.claim_within + MARGIN

    assert life.check(at=waited - 1).messages == ()
    assert life.check(at=waited).messages == (Retry(ORDER_ID, "reserve", 1),)
    assert life.step("reserve").failure_count == 1


def test_at_the_threshold_the_step_ends_in_error_and_an_operator_is_told() -> None:
    """S13, I5: FailureCount reaches the threshold and never passes it."""
    life = started(sequence("reserve", "ship", threshold=2))
    life.check(at=OVERDUE)
    life.retry("reserve", 1)

    decision = life.check(at=life.now + MINUTE + MARGIN)

    record = life.step("reserve")
    assert (record.process_state, record.failure_count) == (ERROR, 2)
    assert (record.locked_by, record.complete_by) == (None, None)
    (alert,) = alerts(decision)
    assert (alert.step, alert.attempt) == ("reserve", 2)
    assert alert.reason == "no answer within complete-by, 2 of 2 times"
    assert retries(decision) == []
    assert life.task.process_state is ERROR


def test_a_threshold_of_one_ends_at_the_first_failure() -> None:
    """S13."""
    life = started(sequence("reserve", "ship", threshold=1))
    life.check(at=OVERDUE)
    assert (life.state("reserve"), life.step("reserve").failure_count) == (ERROR, 1)


def test_both_overdue_steps_of_a_graph_are_recovered_in_one_write(side_by_side: Life) -> None:
    """S12."""
    decision = side_by_side.check(at=OVERDUE)
    assert [retry.step for retry in retries(decision)] == ["pick", "pay"]
    assert decision.task.revision == side_by_side.before.revision + 1


def test_only_the_overdue_step_of_a_graph_is_recovered(side_by_side: Life) -> None:
    """S12."""
    later = replace(side_by_side.step("pay"), complete_by=OVERDUE + MINUTE)
    side_by_side.task = replace(side_by_side.task, steps={**side_by_side.task.steps, "pay": later})

    assert [retry.step for retry in retries(side_by_side.check(at=OVERDUE))] == ["pick"]
    assert (side_by_side.state("pay"), side_by_side.step("pay").failure_count) == (PROCESSING, 0)
