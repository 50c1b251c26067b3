"""What a deployment lacks for a step counts against nobody: the step waits, and an operator hears of it if it lasts."""

from dataclasses import replace

import pytest

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply, StepWaits
from stepward.domain.task.change import Decision
from stepward.domain.task.lacking import TOLD_AFTER
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from tests.factories import (
    ALERTS,
    HOUR,
    MINUTE,
    SECOND,
    T0,
    UNDOES,
    Life,
    answer,
    asked,
    falls_back,
    kinds,
    planned,
    sequence,
    started,
)

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
UNKNOWN = "agent worker does not know operation reserve; deploy it"
NO_QUEUE = "agent worker has no queue; deploy it"
ABSENT = frozenset({"worker"})
WITH_FALLBACK = Plan("line", 1, (planned("reserve", undo="release", exhausted=(falls_back("other"), ALERTS)),))


def unknown(life: Life, at: int | None = None) -> Decision:
    """The agent last asked does not know the operation."""
    return life.apply(answer(life.request("reserve"), Outcome.NOT_UNDERSTOOD, error=UNKNOWN, result={}), at=at)


def waits(decision: Decision) -> list[StepWaits]:
    return [message for message in decision.messages if isinstance(message, StepWaits)]


def _is_listed(life: Life) -> bool:
    return life.task.needs_attention is not None


def hours_without_the_operation(life: Life, hours: int) -> list[StepWaits]:
    """Every claim is answered by an agent that does not know the operation; the Supervisor checks each minute."""
    told: list[StepWaits] = []
    for minute in range(1, hours * 60):
        life.now = T0 + minute * MINUTE
        if life.state("reserve") is PENDING and (life.step("reserve").not_before or 0) <= life.now:
            life.retry("reserve", life.step("reserve").attempt)
        if life.state("reserve") is PROCESSING:
            unknown(life)
        decision = life.check(at=life.now + 5 * SECOND)
        told += waits(decision)
        if waits(decision):
            life.alerted("reserve")
    return told


@pytest.mark.parametrize("last", [ALERTS, UNDOES])
def test_an_operation_that_is_not_deployed_for_hours_counts_nothing_and_ends_nothing(last: object) -> None:
    """D1, case 1: no failure, no bound of claims, no policy; one alert, and a place in the list; then it goes on."""
    life = started(sequence("reserve", "ship", threshold=1, exhausted=(last,)))
    told = hours_without_the_operation(life, 24)

    assert life.step("reserve").failure_count == 0
    assert not life.task.undoing
    assert [(alert.step, alert.reason) for alert in told] == [("reserve", UNKNOWN)]
    assert TOLD_AFTER <= told[0].at - T0 <= TOLD_AFTER + 2 * MINUTE
    assert _is_listed(life)
    life.now += HOUR
    if life.state("reserve") is PENDING:
        life.retry("reserve", life.step("reserve").attempt)
    life.done("reserve")
    assert (life.state("reserve"), life.step("reserve").lacks, _is_listed(life)) == (PROCESSED, "", False)
    assert life.state("ship") is PROCESSING


def test_the_attempt_stays_open_to_an_agent_that_is_updated_in_time() -> None:
    """D1: the request is still in its queue."""
    life = started(sequence("reserve"))
    decision = unknown(life)
    assert (kinds(decision), life.state("reserve")) == ([HistoryKind.LACKING], PROCESSING)
    assert life.ignored(unknown(life))

    life.done("reserve")

    assert (life.state("reserve"), life.step("reserve").attempt) == (PROCESSED, 1)


def test_a_note_that_comes_past_complete_by_spares_the_attempt_all_the_same() -> None:
    """D1: it completes nothing, and says that nobody tried."""
    life = started(sequence("reserve", threshold=1))
    unknown(life, at=T0 + MINUTE + 1)
    assert kinds(life.overdue("reserve")) == [HistoryKind.UNCOUNTED]
    assert (life.state("reserve"), life.step("reserve").failure_count) == (PENDING, 0)


@pytest.mark.parametrize("change", [{"attempt": 7}, {"token": "another"}])
def test_a_note_of_another_attempt_spares_nothing(change: dict[str, object]) -> None:
    """S6."""
    life = started(sequence("reserve", threshold=3))
    note: Reply = replace(answer(life.request("reserve"), Outcome.NOT_UNDERSTOOD, error=UNKNOWN), **change)  # type: ignore[arg-type]
    assert life.ignored(life.apply(note))
    life.overdue("reserve")
    assert life.step("reserve").failure_count == 1


def test_once_the_operation_is_known_a_slow_service_counts_again() -> None:
    """S13, I5: leniency ends with its cause."""
    life = started(sequence("reserve", threshold=3))
    unknown(life)
    life.overdue("reserve")
    life.retry("reserve", 1)

    decision = life.overdue("reserve")

    assert kinds(decision) == [HistoryKind.RECOVERED]
    assert (life.step("reserve").failure_count, life.step("reserve").lacks) == (1, "")


def test_a_note_that_comes_after_the_success_changes_nothing() -> None:
    life = started(sequence("reserve"))
    request = life.request("reserve")
    life.done("reserve")
    assert life.ignored(life.apply(answer(request, Outcome.NOT_UNDERSTOOD, error=UNKNOWN)))


@pytest.mark.parametrize("every", [1, 10])
def test_a_step_whose_agent_has_no_queue_is_not_claimed_until_it_has_one(every: int) -> None:
    """D1, case 4: no attempt, no failure; one alert, and a place in the list."""
    life = Life(sequence("reserve", threshold=1), absent=ABSENT)
    told = waits(life.start())
    for minute in range(every, 12 * 60, every):
        decision = life.check(at=T0 + minute * MINUTE)
        told += waits(decision)
        if waits(decision):
            life.alerted("reserve")

    record = life.step("reserve")
    assert (record.process_state, record.attempt, record.failure_count, record.lacks) == (PENDING, 0, 0, NO_QUEUE)
    assert [alert.reason for alert in told] == [NO_QUEUE]
    assert _is_listed(life)
    life.absent = frozenset()
    life.check(at=life.now + 2 * MINUTE)
    assert asked(life.retry("reserve", 0)) == ["reserve"]
    assert life.step("reserve").lacks == ""


def test_an_agent_that_is_taken_out_while_its_request_waits_counts_nothing() -> None:
    """D1, case 4."""
    life = started(sequence("reserve", threshold=1))
    life.absent = ABSENT
    assert kinds(life.overdue("reserve")) == [HistoryKind.UNCOUNTED, HistoryKind.LACKING]
    assert (life.state("reserve"), life.step("reserve").failure_count) == (PENDING, 0)
    assert life.task.due is not None


@pytest.mark.parametrize("at_the_claim", [True, False])
def test_a_fallback_takes_over_from_an_agent_without_a_queue(at_the_claim: bool) -> None:
    """S21, D1: the first agent was never asked, so there is nothing to undo; nor if the Supervisor finds it first."""
    life = Life(WITH_FALLBACK, absent=ABSENT)
    if not at_the_claim:
        assert kinds(life.check(at=T0 + 2 * MINUTE)) == [HistoryKind.FELL_BACK]
    assert asked(life.start() if at_the_claim else life.retry("reserve", 0)) == ["reserve"]
    assert life.request("reserve").agent == "other"
    assert list(life.task.steps) == ["reserve"]


def test_an_undo_waits_for_its_agent_too() -> None:
    """I6: it covers what happened, and ends nowhere because of a deployment."""
    life = started(Plan("line", 1, (planned("reserve", undo="release", threshold=1), planned("ship", "reserve"))))
    life.done("reserve")
    life.absent = ABSENT
    life.undo()
    for minute in range(1, 60):
        life.check(at=T0 + minute * MINUTE)
    assert life.state("reserve/undo") is PENDING
    life.absent = frozenset()
    life.check(at=life.now + 2 * MINUTE)
    life.retry("reserve/undo", 0)
    life.done("reserve/undo")
    assert life.task.process_state is ProcessState.UNDONE


def test_an_undo_forgets_what_a_stopped_step_lacked() -> None:
    life = started(sequence("reserve", "ship"))
    unknown(life)
    life.undo()
    assert (life.step("reserve").lacks, life.step("reserve").alert_by) == ("", None)


def test_a_paused_agent_is_still_paused() -> None:
    """S13: what is unavailable waits as before, and lacks nothing."""
    life = started(sequence("reserve", threshold=1))
    life.apply(DeadlineCheck(unavailable=ABSENT), at=T0 + 2 * MINUTE)
    assert life.step("reserve").lacks == ""


def test_a_wish_for_more_time_of_an_agent_without_a_queue_spares_the_attempt() -> None:
    """D1, W8: a Scheduler that was rolled back cannot ask again, and nobody made the attempt."""
    life = started(sequence("reserve", "ship"))
    request = life.request("reserve")
    life.absent = ABSENT
    wish = answer(request, Outcome.WAITING, error="its rate is used up", result={})
    decision = life.apply(replace(wish, complete_by=request.complete_by))
    assert (asked(decision), life.step("reserve").untried, life.step("reserve").lacks) == ([], 1, NO_QUEUE)

    life.absent = frozenset()
    life.check(at=request.complete_by + MINUTE)
    assert life.step("reserve").failure_count == 0
