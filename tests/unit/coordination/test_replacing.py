"""A copy is what `dataclasses.replace` makes, and refuses what that refuses."""

import dataclasses
from typing import Any

import pytest

from stepward.domain.messages import Start, StepRequest
from stepward.domain.replace import replace
from stepward.domain.task.record import StepRecord


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (Start("o-1"), {"order_id": "o-2"}),
        (Start("o-1"), {}),
        (StepRecord("o-1", "charge", attempt=2), {"attempt": 3, "result": {"a": 1}}),
        (StepRequest("o-1", "charge", "payments", "charge", 1, "t", 1, "key", 1, 1), {"order": {"a": 1}, "delay": 5}),
    ],
)
def test_a_copy_is_the_same_in_all_but_its_changes(record: Any, changes: dict[str, Any]) -> None:
    copy = replace(record, **changes)
    assert copy == dataclasses.replace(record, **changes)
    assert type(copy) is type(record)


def test_a_field_that_a_record_has_not_is_refused() -> None:
    changes: Any = {"order": 1}
    with pytest.raises(TypeError):
        replace(Start("o-1"), **changes)
