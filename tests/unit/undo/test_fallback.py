"""S13, S21: another agent takes the step, once what the first one did or may have done is undone."""

from dataclasses import replace

import pytest

from stepward.domain.coordination.outlook import DeadlineCheck, Outlook
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Retry, Start
from stepward.domain.task.decide import decide
from stepward.domain.task.record import ProcessState, StepRecord, Task
from tests.decisions import alerts, asked, kinds, requests, retries
from tests.factories import ALERTS, MINUTE, ORDER_ID, OTHER, UNDOES, Life, answer, falls_back, paying, waits

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState


@pytest.fixture
def exhausted() -> Life:
    """The attempts of `pay` are used up: it is to be undone, and another agent will take it."""
    life = paying(OTHER, ALERTS)
    life.used_up("pay")
    return life


@pytest.fixture
def life(exhausted: Life) -> Life:
    """The undo of `pay` runs."""
    exhausted.retry("pay/undo", 0)
    return exhausted


def test_fallback_undoes_what_the_first_may_have_done_before_another_takes_over() -> None:
    """S13, S17, S21: an attempt in doubt is taken back under its own key first."""
    life = paying(OTHER, ALERTS)

    decision = life.used_up("pay")
    assert [retry.step for retry in retries(decision)] == ["pay/undo"]
    assert (life.state("pay"), life.step("pay").failure_count, life.step("pay").policy) == (PENDING, 0, 1)

    (undo,) = requests(life.retry("pay/undo", 0))
    assert (undo.agent, undo.operation, undo.idempotency_key) == ("worker", "refund", f"{ORDER_ID}/pay/undo")
    assert life.retry("pay", life.step("pay").attempt).messages == ()

    (request,) = requests(life.done("pay/undo"))
    assert (request.agent, request.operation, request.step) == ("other", "by_other", "pay")
    assert (request.idempotency_key, request.attempt) == (f"{ORDER_ID}/pay/by-other", 3)
    life.done("pay")
    life.done("ship")
    assert life.task.process_state is PROCESSED


def test_the_first_executor_answering_after_all_changes_nothing(exhausted: Life) -> None:
    """S6, S13: it was fenced by the fallback, and is taken back."""
    for request in [request for request in exhausted.asked if request.step == "pay"]:
        decision = exhausted.apply(answer(request))
        assert (decision.messages, exhausted.state("pay")) == ((), PENDING)
        assert kinds(decision) == [HistoryKind.LATE_REPLY]


def test_when_the_fallback_fails_too_the_next_policy_undoes_both() -> None:
    """S13, S17, I6: each under its own key; the one that was undone before is not undone again."""
    life = paying(OTHER, UNDOES)
    life.used_up("pay")
    life.retry("pay/undo", 0)
    life.done("pay/undo")

    assert [retry.step for retry in retries(life.used_up("pay"))] == ["pay/by-other/undo"]

    (undo,) = requests(life.retry("pay/by-other/undo", 0))
    assert (undo.agent, undo.operation) == ("other", "unpay")
    assert undo.idempotency_key == f"{ORDER_ID}/pay/by-other/undo"
    assert asked(life.done("pay/by-other/undo")) == ["reserve/undo"]
    assert life.done("reserve/undo").task.process_state is UNDONE
    assert [request.step for request in life.asked].count("pay/undo") == 1


def test_an_undo_that_fails_makes_the_fallback_wait(life: Life) -> None:
    """S13, S17: nobody else takes the step while the first one's effect may remain; an operator is alerted."""
    decision = life.declined("pay/undo", "no such payment")

    assert [alert.step for alert in alerts(decision)] == ["pay/undo"]
    assert (life.state("pay"), life.task.process_state) == (PENDING, ERROR)
    life.resubmit("pay/undo", 1)
    assert [request.agent for request in requests(life.done("pay/undo"))] == ["other"]


def test_a_fallback_that_is_resubmitted_still_has_the_step() -> None:
    """S7: who took over goes on; waiting begins anew."""
    life = paying(OTHER, waits(MINUTE), ALERTS, threshold=1)
    life.used_up("pay")
    life.retry("pay/undo", 0)
    life.done("pay/undo")
    life.used_up("pay")
    life.retry("pay", 2)
    life.used_up("pay")
    assert life.state("pay") is ERROR

    (request,) = requests(life.resubmit("pay", 3))

    assert (request.agent, life.step("pay").policy, life.step("pay").rounds) == ("other", 1, 0)
    life.used_up("pay")
    assert life.state("pay") is PENDING


def test_an_agent_that_takes_no_requests_gives_way_to_its_fallback() -> None:
    """S20, S21: its policy is taken without waiting for the threshold."""
    life = paying(OTHER, ALERTS, threshold=3)

    decision = life.overdue("pay")
    assert life.step("pay").policy == 0
    life.retry("pay", 1)
    life.apply(DeadlineCheck(unavailable=frozenset({"worker"})), at=life.now + 2 * MINUTE, by="supervisor-1")

    assert retries(decision)[0].step == "pay"
    assert (life.step("pay").policy, life.step("pay").failure_count) == (1, 0)
    assert life.state("pay/undo") is PENDING


def test_an_undo_in_the_midst_of_a_fallback_takes_back_whoever_was_asked(life: Life) -> None:
    """S17, I6: what the first one did is being undone already, and is not undone twice; the second did nothing."""
    life.undo()
    life.done("pay/undo")
    life.done("reserve/undo")

    assert life.task.process_state is UNDONE
    undos = [request.step for request in life.asked if request.step.endswith("/undo")]
    assert undos == ["pay/undo", "reserve/undo"]


def test_a_fallback_without_a_queue_gives_way_to_the_next_and_has_nothing_to_undo() -> None:
    """S21: it was never asked, so the next one does not wait for an undo that nobody could take."""
    life = paying(OTHER, falls_back("third"), ALERTS)
    life.used_up("pay")
    life.retry("pay/undo", 0)
    life.absent = frozenset({"other", "third"})
    life.done("pay/undo")
    life.absent = frozenset({"other"})

    life.check(at=(life.step("pay").complete_by or 0) + MINUTE)

    (request,) = requests(life.retry("pay", 2))
    assert (request.agent, life.step("pay").policy) == ("third", 2)
    assert "pay/by-other/undo" not in life.task.steps


def test_an_undo_beside_one_that_failed_has_failed_until_that_is_resubmitted(life: Life) -> None:
    """S17, I8: the submitter is notified of the real state."""
    life.declined("pay/undo", "no such payment")

    assert requests(life.undo()) == []
    assert life.task.process_state is UNDO_FAILED
    assert asked(life.resubmit("pay/undo", 1)) == ["pay/undo"]


def test_a_remaining_effect_is_named_once_whoever_had_it(life: Life) -> None:
    """S17: an operator reads names of steps. Earlier releases undid even a fallback that nobody had asked."""
    life.undo()
    planned = StepRecord(ORDER_ID, "pay/by-other/undo")
    life.task = replace(life.task, steps={**life.task.steps, planned.name: planned})
    life.retry(planned.name, 0)

    (alert,) = alerts(life.declined("pay/by-other/undo"))

    assert alert.remaining_effects == ("pay", "reserve")


def test_the_first_executor_is_not_taken_for_the_second_once_an_undo_has_begun(exhausted: Life) -> None:
    """S17, I6: its answer is no effect of who took over, so that one's undo is not run again."""
    life, late = exhausted, answer(exhausted.request("pay"))
    life.retry("pay/undo", 0)
    life.done("pay/undo")
    life.undo()
    life.done("pay/by-other/undo")
    life.done("reserve/undo")

    decision = life.apply(late)

    assert life.ignored(decision)
    assert kinds(decision) == [HistoryKind.LATE_REPLY]


@pytest.mark.parametrize(("asked", "agent"), [(False, "other"), (True, "worker")])
def test_at_the_claim_a_fallback_takes_over_only_from_an_agent_that_was_never_asked(asked: bool, agent: str) -> None:
    """S21: whoever was asked may have had the effect, so the undo comes first, once the step is overdue."""
    life = paying(OTHER, ALERTS)
    if asked:
        life.check(at=(life.step("pay").complete_by or 0) + MINUTE)
    task, event = (life.task, Retry(ORDER_ID, "pay", 1)) if asked else (replaced(life.task), Start(ORDER_ID))
    outlook = Outlook(unavailable=frozenset({"worker"}))

    decision = decide(task, life.plan, event, now=life.now, by="scheduler-1", timing=life.timing, outlook=outlook)

    assert [request.agent for request in requests(decision)] == [agent]


def replaced(task: Task) -> Task:
    """The task, before anybody was asked for `pay`."""
    return replace(task, steps={**task.steps, "pay": StepRecord(ORDER_ID, "pay")})
