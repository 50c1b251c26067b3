"""S13: back-off, jitter and long waits are due times, never sleep."""

from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.workflow.plan import Plan
from tests.factories import (
    ALERTS,
    HOUR,
    MINUTE,
    SECOND,
    T0,
    Life,
    again,
    paying,
    planned,
    requests,
    retries,
    waits,
)

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, *_ = ProcessState


def resting(life: Life) -> StepRecord:
    life.overdue("pay")
    return life.step("pay")


def test_each_failure_rests_longer_than_the_one_before() -> None:
    """S13: back-off as a due time, never a sleep; none after the first, the longest is five minutes."""
    life = paying(ALERTS, threshold=20)
    rests = []
    for attempt in range(1, 15):
        rests.append((resting(life).not_before or life.now) - life.now)
        life.retry("pay", attempt)

    assert rests[0] == 0
    for failures, backoff in enumerate(rests[1:]):
        ceiling = min(300 * SECOND, SECOND << failures)
        assert ceiling // 2 <= backoff <= ceiling


def test_orders_that_failed_together_do_not_return_together() -> None:
    """S13: jitter differs from order to order, and is the same for whoever decides."""
    rests = set()
    for millisecond in range(20):
        life = Life(Plan("line", 1, (planned("pay"),)), now=T0 + millisecond)
        life.start()
        resting(life)
        life.retry("pay", 1)
        rests.add((resting(life).not_before or 0) - life.now)

    assert len(rests) > 10


def test_a_retry_that_comes_early_is_told_again_when_it_may() -> None:
    """S13: the queue may be early, or a copy; nothing is claimed before its time."""
    life = paying(ALERTS, threshold=3)
    resting(life)
    life.retry("pay", 1)
    record = resting(life)
    assert record.not_before is not None
    before = life.task

    decision = life.retry("pay", 2, at=record.not_before - 1)

    assert (decision.task, requests(decision)) == (before, [])
    assert [(retry.attempt, retry.delay) for retry in retries(decision)] == [(2, 1)]
    assert [request.attempt for request in requests(life.retry("pay", 2, at=record.not_before))] == [3]


def test_nothing_else_wakes_a_step_that_rests() -> None:
    """S13: neither a start that comes again nor a reply of another step."""
    life = paying(waits(10 * MINUTE), ALERTS, threshold=1)
    life.used_up("pay")

    assert life.start().messages == ()
    assert life.state("pay") is PENDING


def test_a_wait_longer_than_a_queue_can_keep_is_found_by_the_supervisor() -> None:
    """S13, I9: nothing is sent; the index lists the task when the wait is over."""
    life = paying(waits(HOUR), ALERTS, threshold=1)
    decision = life.used_up("pay")
    over = life.step("pay").not_before
    assert over is not None

    assert decision.messages == ()
    assert over == life.now + HOUR
    assert life.task.due == over
    assert life.look(at=over - 1).messages == ()
    found = life.look(at=over + life.timing.skew_margin)
    assert retries(found) == [again(life.step("pay"), life.now)]
    assert [entry.kind for entry in found.history] == []
    assert [request.attempt for request in requests(life.retry("pay", 1))] == [2]
