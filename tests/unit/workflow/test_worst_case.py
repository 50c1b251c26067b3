"""How old a task may grow before a person has to know of it."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.task.record import new_task
from stepward.domain.task.worst_case import overtime, worst_case
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy
from tests.factories import HOUR, MINUTE, ORDER_ID, SECOND, T0, diamond, planned, sequence, started

TIMING = Timing(claim_within=MINUTE, skew_margin=5 * SECOND)
ATTEMPT = MINUTE + MINUTE + 5 * SECOND + MINUTE
"""Claimed as late as can be, run for its whole time, found overdue as late as can be."""


def one(**changes: Any) -> Plan:
    return Plan("line", 1, (replace(planned("charge", threshold=2), **changes),))


def test_a_step_may_use_up_all_its_attempts_and_wait_after_each_but_the_first() -> None:
    assert worst_case(one(), TIMING) == 2 * ATTEMPT + SECOND


def test_waits_and_fallbacks_come_on_top() -> None:
    """S13."""
    policies = (Policy(Exhausted.WAIT, wait=HOUR, rounds=3), Policy(Exhausted.FALLBACK, agent="other"))
    rounds = 1 + 3 + 1
    assert worst_case(one(exhausted=policies), TIMING) == rounds * worst_case(one(), TIMING) + 3 * HOUR


def test_what_can_be_undone_may_take_its_attempts_twice() -> None:
    """S17."""
    assert worst_case(one(undo_agent="worker", undo="refund"), TIMING) == 2 * worst_case(one(), TIMING)


def test_steps_in_a_row_add_up_and_steps_side_by_side_do_not() -> None:
    """S1."""
    each = worst_case(sequence("a"), TIMING)
    assert worst_case(sequence("a", "b", "c"), TIMING) == 3 * each
    assert worst_case(diamond(), TIMING) == 3 * each


def test_the_longest_path_counts_in_whatever_order_the_steps_are_written() -> None:
    plan = diamond()
    slow = replace(plan.by_name["pay"], threshold=9)
    steps = (plan.by_name["ship"], slow, plan.by_name["pick"], plan.by_name["check"])
    ends = worst_case(Plan("line", 1, (replace(slow, after=()),)), TIMING)
    assert worst_case(Plan("diamond", 1, steps), TIMING) == ends + 2 * worst_case(sequence("a"), TIMING)


@pytest.mark.parametrize("age", [-1, 0, 1])
def test_a_task_is_in_overtime_once_it_is_older_than_that(age: int) -> None:
    plan = sequence("a", "b")
    task = new_task(ORDER_ID, plan, T0, TIMING)
    assert overtime(task, plan, T0 + worst_case(plan, TIMING) + age, TIMING) == age


@pytest.mark.parametrize("kind", [HistoryKind.RESUBMITTED, HistoryKind.RESUMED, HistoryKind.UNDO_BEGUN])
def test_an_operators_command_starts_the_count_anew(kind: HistoryKind) -> None:
    plan = sequence("a")
    task = replace(new_task(ORDER_ID, plan, T0, TIMING), history=(HistoryEntry(T0 + 9 * HOUR, kind),))
    assert overtime(task, plan, T0 + 9 * HOUR + worst_case(plan, TIMING), TIMING) == 0


def test_a_recovery_does_not() -> None:
    plan = sequence("a")
    task = replace(new_task(ORDER_ID, plan, T0, TIMING), history=(HistoryEntry(T0 + 9 * HOUR, HistoryKind.RECOVERED),))
    assert overtime(task, plan, T0 + 9 * HOUR + worst_case(plan, TIMING), TIMING) == 9 * HOUR


def test_a_check_of_a_due_task_in_overtime_logs_it() -> None:
    """Not finishing is never silent."""
    life = started(sequence("a"))
    at = T0 + worst_case(life.plan, life.timing) + SECOND

    life.check(at=at)

    assert [entry.value for entry in life.history if entry.kind is HistoryKind.OVERTIME] == [SECOND]


def test_a_check_of_a_task_that_is_not_due_logs_nothing() -> None:
    """Design rule 2: the index is a hint, and what is finished is never late."""
    life = started(Plan("line", 1, (PlannedStep("a", "worker", "a", (), MINUTE, 3),)), "a")
    life.check(at=T0 + 99 * HOUR)
    assert life.count(HistoryKind.OVERTIME) == 0
