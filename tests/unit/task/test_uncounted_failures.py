"""When running past complete-by is not the agent's failure, so that it uses up no attempt."""

import pytest

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import StepFailed
from stepward.domain.task.change import Decision
from stepward.domain.task.record import ProcessState
from tests.factories import HOUR, MINUTE, T0, Life, again, kinds, sequence, started

PENDING, PROCESSING, PROCESSED, ERROR, *_ = ProcessState
OVERDUE = T0 + 2 * MINUTE


def running(threshold: int = 3) -> Life:
    return started(sequence("reserve", "ship", threshold=threshold))


def checked(life: Life, backlog: str, at: int = OVERDUE) -> Decision:
    """The Supervisor checks while an agent has a backlog."""
    return life.apply(DeadlineCheck(frozenset({backlog})), at=at, by="supervisor-1")


@pytest.mark.parametrize(
    ("backlog", "at", "overtime"),
    [("", T0 + 8 * HOUR, [HistoryKind.OVERTIME]), ("worker", OVERDUE, [])],
    ids=["overdue by hours, which is the platform's failure", "a backlog, in which it may still be in line"],
)
def test_what_no_agent_ever_tried_is_not_counted(backlog: str, at: int, overtime: list[HistoryKind]) -> None:
    """Design rule 13: the step is freed and asked for again, and its count stays."""
    life = running(threshold=1)

    decision = checked(life, backlog, at)

    assert (life.state("reserve"), life.step("reserve").failure_count) == (PENDING, 0)
    assert decision.messages == (again(life.step("reserve"), life.now),)
    assert kinds(decision) == [*overtime, HistoryKind.UNCOUNTED]


@pytest.mark.parametrize(("later", "counted"), [(0, 1), (1, 0)])
def test_an_outage_begins_after_its_limit(later: int, counted: int) -> None:
    """Design rule 13."""
    life = running()
    life.check(at=T0 + MINUTE + life.timing.outage_after + later)
    assert life.step("reserve").failure_count == counted


def test_the_backlog_of_another_agent_changes_nothing() -> None:
    """S12."""
    life = running()
    checked(life, "bank")
    assert life.step("reserve").failure_count == 1


def test_an_uncounted_attempt_leaves_earlier_failures_as_they_were() -> None:
    """I5."""
    life = running()
    life.check(at=OVERDUE)
    life.retry("reserve", 1)

    life.check(at=OVERDUE + 8 * HOUR)

    assert life.step("reserve").failure_count == 1


def test_a_dead_agent_behind_a_lasting_backlog_still_ends_in_an_alert() -> None:
    """I1: after ten times the threshold every failure counts."""
    life = running(threshold=1)
    now, checks = OVERDUE, 0
    while life.state("reserve") is not ERROR:
        decision = checked(life, "worker", now)
        checks += 1
        if life.state("reserve") is PENDING:
            life.retry("reserve", life.step("reserve").attempt)
        now += 2 * MINUTE
    assert checks == 11
    assert [type(message) for message in decision.messages] == [StepFailed]


def test_a_defect_of_the_code_uses_up_neither_failures_nor_claims() -> None:
    """S20: it lasts as long as it lasts, and the next failure of another kind counts as the first."""
    life = running()
    defect = DeadlineCheck(defective=frozenset({("worker", "reserve")}))

    for attempt in range(1, 500):
        life.apply(defect, at=(life.step("reserve").complete_by or 0) + MINUTE, by="supervisor-1")
        life.retry("reserve", attempt, at=life.step("reserve").not_before)
    assert (life.state("reserve"), life.step("reserve").failure_count) == (ProcessState.PROCESSING, 0)

    life.check(at=(life.step("reserve").complete_by or 0) + MINUTE)
    assert life.step("reserve").failure_count == 1
