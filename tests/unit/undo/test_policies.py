"""S13: what happens to a step whose attempts are used up, policy by policy and in chains."""

import pytest

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.task.change import Decision
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Exhausted, Plan, Policy
from tests.decisions import alerts, asked, kinds, requests, retries
from tests.factories import ALERTS, HOUR, MINUTE, OTHER, UNDOES, Life, again, paying, planned, sequence, started, waits

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


def without(life: Life, agent: str, minutes: int = 2) -> Decision:
    """The Supervisor checks while this agent takes no requests."""
    check = DeadlineCheck(unavailable=frozenset({agent}))
    return life.apply(check, at=life.now + minutes * MINUTE, by="supervisor-1")


@pytest.mark.parametrize(("opens", "due"), [(0, 1), (5, 5)], ids=["soon", "while its breaker is open"])
def test_a_step_whose_agent_takes_no_requests_is_due_when_that_may_be_over(opens: int, due: int) -> None:
    """S12: it costs no look a minute, whether it ran or nobody claims it."""
    life = paying(ALERTS)
    check = DeadlineCheck(unavailable=frozenset({"worker"}), until={"worker": life.now + (2 + opens) * MINUTE})
    life.apply(check, at=life.now + 2 * MINUTE, by="supervisor-1")
    assert (life.state("pay"), life.task.due) == (PENDING, life.now + due * MINUTE)

    later = life.now + due * MINUTE + life.timing.skew_margin
    check = DeadlineCheck(unavailable=frozenset({"worker"}), until={"worker": later + opens * MINUTE})
    life.apply(check, at=later, by="supervisor-1")
    assert life.task.due == later + due * MINUTE


def test_alert_ends_the_step_in_error_in_the_write_that_counts_the_failure() -> None:
    """S13, I5."""
    life = paying(ALERTS)

    decision = life.used_up("pay")

    assert (life.state("pay"), life.step("pay").failure_count) == (ERROR, 2)
    assert life.task.revision == life.before.revision + 1
    assert [alert.step for alert in alerts(decision)] == ["pay"]


def test_wait_pauses_the_step_and_gives_it_all_its_attempts_again() -> None:
    """S13, I5: an extended period, and then a retry."""
    life = paying(waits(10 * MINUTE), ALERTS)

    decision = life.used_up("pay")

    record = life.step("pay")
    assert (record.process_state, record.failure_count, record.rounds) == (PENDING, 0, 1)
    assert record.not_before == life.now + 10 * MINUTE
    assert retries(decision) == [again(record, life.now)]
    assert kinds(decision) == [HistoryKind.WAITING]
    assert [request.attempt for request in requests(life.retry("pay", 2))] == [3]


def test_after_its_rounds_of_waiting_comes_the_next_policy() -> None:
    """S13: two rounds, so three times all attempts; then, and only then, the operator."""
    life = paying(waits(10 * MINUTE, rounds=2), ALERTS)
    for _ in range(2):
        assert alerts(life.used_up("pay")) == []
        life.retry("pay", life.step("pay").attempt)

    assert len(alerts(life.used_up("pay"))) == 1
    assert (life.state("pay"), life.step("pay").attempt, life.count(HistoryKind.WAITING)) == (ERROR, 6, 2)


def test_two_kinds_of_waiting_follow_each_other() -> None:
    """S13: the rounds of the second are counted from its own beginning."""
    life = paying(waits(MINUTE), waits(HOUR), ALERTS, threshold=1)
    waited = []
    for attempt in (1, 2):
        life.used_up("pay")
        waited.append((life.step("pay").not_before or 0) - life.now)
        life.retry("pay", attempt)
    life.used_up("pay")

    assert (waited, life.state("pay")) == ([MINUTE, HOUR], ERROR)


def test_many_rounds_of_waiting_are_no_circle() -> None:
    """S13, design rule 14: the bound of claims is for what the plan does not foresee."""
    life = paying(waits(MINUTE, rounds=100), ALERTS, threshold=1)
    for attempt in range(1, 101):
        life.used_up("pay")
        life.retry("pay", attempt)

    assert life.state("pay") is PROCESSING
    assert [alert.reason for alert in alerts(life.used_up("pay"))] == ["no answer within complete-by, 1 of 1 times"]


def test_undo_begins_in_the_write_that_counts_the_failure() -> None:
    """S13, S17, I5: the Supervisor asks, the Scheduler acts."""
    life = paying(UNDOES)

    decision = life.used_up("pay")

    assert life.task.revision == life.before.revision + 1
    assert (life.step("pay").failure_count, life.state("pay"), life.state("ship")) == (2, STOPPED, STOPPED)
    assert life.task.process_state is UNDOING
    assert requests(decision) == []
    assert [retry.step for retry in retries(decision)] == ["pay/undo"]


@pytest.mark.parametrize("policies", [(ALERTS,), (UNDOES,), (waits(HOUR), ALERTS), (OTHER, ALERTS)])
def test_two_supervisors_apply_a_policy_once(policies: tuple[Policy, ...]) -> None:
    """S13, S15, I5: the second finds it applied."""
    life = paying(*policies)
    life.used_up("pay")
    assert life.ignored(life.check(by="supervisor-2"))


@pytest.mark.parametrize("on_permanent", [Exhausted.ALERT, Exhausted.UNDO])
def test_a_refusal_for_good_does_what_its_policy_says(on_permanent: Exhausted) -> None:
    """S7, S13: the Scheduler applies it in the write that takes the reply, and starts the undo itself."""
    steps = (planned("reserve", undo="release"), planned("pay", "reserve", undo="refund", on_permanent=on_permanent))
    life = started(Plan("line", 1, steps), "reserve")

    decision = life.declined("pay")

    alerted = [alert.step for alert in alerts(decision)]
    if on_permanent is Exhausted.ALERT:
        assert (life.task.process_state, alerted) == (ERROR, ["pay"])
    else:
        assert (life.task.process_state, alerted, asked(decision)) == (UNDOING, [], ["pay/undo"])
        assert life.task.undoing == "pay: card declined"


def test_a_refusal_that_comes_twice_asks_again_for_the_undo_it_began() -> None:
    """Design rule 1."""
    life = started(sequence("pay", undo="refund", on_permanent=Exhausted.UNDO))
    first, second = life.declined("pay"), life.declined("pay")

    assert second.task is first.task
    assert requests(second) == requests(first)


def test_while_its_agent_takes_no_requests_nothing_is_counted_and_nothing_is_sent() -> None:
    """S20, I5: attempts are not burned by an open breaker."""
    life = paying(ALERTS, threshold=1)
    for minutes in range(2, 10, 2):
        assert without(life, "worker", minutes).messages == ()
    assert (life.state("pay"), life.step("pay").failure_count, life.step("pay").attempt) == (PENDING, 0, 1)

    assert [retry.step for retry in retries(life.check(at=life.now + 2 * MINUTE))] == ["pay"]


def test_another_agent_that_takes_no_requests_changes_nothing() -> None:
    """S12."""
    life = paying(ALERTS)
    without(life, "bank")
    assert life.step("pay").failure_count == 1
