"""When running past complete-by is not the agent's failure, so that it uses up no attempt."""

import pytest

from stepward.domain.history import HistoryKind
from stepward.domain.messages import StepFailed
from stepward.domain.task.deadlines import DeadlineCheck
from stepward.domain.task.record import ProcessState
from tests.factories import HOUR, MINUTE, T0, Life, again, sequence

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
OVERDUE = T0 + 2 * MINUTE


def running(threshold: int = 3) -> Life:
    life = Life(sequence("reserve", "ship", threshold=threshold))
    life.start()
    return life


def test_no_agent_ever_tried_so_hours_of_outage_are_not_counted() -> None:
    """Design rule 13: overdue by hours is the platform's failure; the step is freed, and its count stays."""
    life = running(threshold=1)

    decision = life.look(at=T0 + 8 * HOUR)

    assert (life.state("reserve"), life.step("reserve").failure_count) == (PENDING, 0)
    assert [entry.kind for entry in decision.history] == [HistoryKind.OVERTIME, HistoryKind.UNCOUNTED]
    assert decision.messages == (again(life.step("reserve"), life.now),)


@pytest.mark.parametrize(("later", "counted"), [(0, 1), (1, 0)])
def test_an_outage_begins_after_its_limit(later: int, counted: int) -> None:
    """Design rule 13."""
    life = running()

    life.look(at=T0 + MINUTE + life.timing.outage_after + later)

    assert life.step("reserve").failure_count == counted


def test_a_step_whose_agent_has_a_backlog_may_still_be_in_line() -> None:
    """Design rule 13: it is freed and asked for again, but no failure is counted."""
    life = running(threshold=1)

    decision = life.apply(DeadlineCheck(frozenset({"worker"})), at=OVERDUE, by="supervisor-1")

    assert (life.state("reserve"), life.step("reserve").failure_count) == (PENDING, 0)
    assert [entry.kind for entry in decision.history] == [HistoryKind.UNCOUNTED]
    assert decision.messages == (again(life.step("reserve"), life.now),)


def test_the_backlog_of_another_agent_excuses_nobody() -> None:
    """S12."""
    life = running()

    life.apply(DeadlineCheck(frozenset({"bank"})), at=OVERDUE, by="supervisor-1")

    assert life.step("reserve").failure_count == 1


def test_an_excused_attempt_leaves_earlier_failures_as_they_were() -> None:
    """I5."""
    life = running()
    life.look(at=OVERDUE)
    life.retry("reserve", 1)

    life.look(at=OVERDUE + 8 * HOUR)

    assert life.step("reserve").failure_count == 1


def test_a_dead_agent_behind_a_lasting_backlog_still_ends_in_an_alert() -> None:
    """I1: excuses run out after ten times the threshold; then every failure counts."""
    life = running(threshold=1)
    now, looks = OVERDUE, 0
    while life.state("reserve") is not ERROR:
        decision = life.apply(DeadlineCheck(frozenset({"worker"})), at=now, by="supervisor-1")
        looks += 1
        if life.state("reserve") is PENDING:
            life.retry("reserve", life.step("reserve").attempt)
        now += 2 * MINUTE
    assert looks == 11
    assert [type(message) for message in decision.messages] == [StepFailed]
