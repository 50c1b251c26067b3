"""S17: what an undo leaves, since a step has none."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.undo import is_lasting, lasting_effects
from stepward.domain.workflow.plan import Plan, PlannedStep, StepKind
from tests.factories import ORDER_ID, T0, planned

WITH_UNDO, WITHOUT = planned("pay", undo="refund"), planned("print")
PARCELS = replace(planned("parcels"), agent="", kind=StepKind.EACH, parts=(WITH_UNDO, WITHOUT))
CHILD = replace(planned("bill"), agent="", kind=StepKind.CHILD, child=Plan("bill", 1, (WITHOUT,), is_child=True))


@pytest.mark.parametrize(
    ("step", "lasts"),
    [
        (WITH_UNDO, False),
        (WITHOUT, True),
        (PARCELS, True),
        (replace(PARCELS, parts=(WITH_UNDO,)), False),
        (CHILD, True),
        (replace(WITHOUT, agent="", kind=StepKind.TIMER), False),
    ],
)
def test_an_effect_lasts_if_the_step_or_one_within_it_has_no_undo(step: PlannedStep, lasts: bool) -> None:
    assert is_lasting(step) is lasts


def test_an_each_is_named_once_and_a_step_that_nobody_was_asked_for_is_not() -> None:
    asked: dict[str, Any] = {"token": "t", "process_state": ProcessState.PROCESSED}
    records = [
        StepRecord(ORDER_ID, "print", **asked),
        StepRecord(ORDER_ID, "parcels", items=1, **asked),
        StepRecord(ORDER_ID, "parcels[0].print", **asked),
        StepRecord(ORDER_ID, "label"),
    ]
    plan = Plan("trip", 1, (WITHOUT, PARCELS, planned("label")))
    task = Task(ORDER_ID, plan.plan_id, T0, {record.name: record for record in records}, due=None)

    assert dict(lasting_effects(task, plan)) == {"print": True, "parcels": False}
