"""S13: backoff, jitter and long waits are due times, never a sleep."""

from stepward.domain.task.record import ProcessState
from tests.decisions import asked, kinds, retries
from tests.factories import ALERTS, HOUR, MINUTE, SECOND, T0, Life, again, paying, sequence, started, waits

PENDING = ProcessState.PENDING


def failed(life: Life) -> int:
    """The running attempt of `pay` is overdue; how long the step has to wait from now on."""
    life.overdue("pay")
    return (life.step("pay").not_before or life.now) - life.now


def test_each_failure_waits_longer_than_the_one_before() -> None:
    """S13: backoff as a due time, never a sleep; none after the first, the longest is five minutes."""
    life = paying(ALERTS, threshold=20)
    backoffs = []
    for attempt in range(1, 15):
        backoffs.append(failed(life))
        life.retry("pay", attempt)

    assert backoffs[0] == 0
    for failures, backoff in enumerate(backoffs[1:]):
        ceiling = min(300 * SECOND, SECOND << failures)
        assert ceiling // 2 <= backoff <= ceiling


def test_orders_that_failed_together_do_not_return_together() -> None:
    """S13: jitter differs from order to order, and is the same for whoever decides."""
    backoffs = set()
    for millisecond in range(20):
        life = started(sequence("pay"), now=T0 + millisecond)
        failed(life)
        life.retry("pay", 1)
        backoffs.add(failed(life))

    assert len(backoffs) > 10


def test_a_retry_that_comes_early_is_told_again_when_it_may() -> None:
    """S13: the queue may be early, or a copy; nothing is claimed before its time."""
    life = paying(ALERTS, threshold=3)
    failed(life)
    life.retry("pay", 1)
    backoff = failed(life)
    ready = life.now + backoff

    decision = life.retry("pay", 2, at=ready - 1)

    assert (decision.task, asked(decision)) == (life.before, [])
    assert [(retry.attempt, retry.delay) for retry in retries(decision)] == [(2, 1)]
    life.retry("pay", 2, at=ready)
    assert life.request("pay").attempt == 3


def test_nothing_else_wakes_a_step_that_waits() -> None:
    """S13: neither a start that comes again nor a reply of another step."""
    life = paying(waits(10 * MINUTE), ALERTS, threshold=1)
    life.used_up("pay")

    assert life.start().messages == ()
    assert life.state("pay") is PENDING


def test_a_wait_longer_than_a_queue_can_delay_is_found_by_the_supervisor() -> None:
    """S13, I9: nothing is sent; the index lists the task when the wait is over."""
    life = paying(waits(HOUR), ALERTS, threshold=1)
    decision = life.used_up("pay")
    over = life.now + HOUR

    assert decision.messages == ()
    assert life.step("pay").not_before == life.task.due == over
    assert life.check(at=over - 1).messages == ()
    found = life.check(at=over + life.timing.skew_margin)
    assert (retries(found), kinds(found)) == ([again(life.step("pay"), life.now)], [])
    life.retry("pay", 1)
    assert life.request("pay").attempt == 2
