"""What a step reads of the results of the steps before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stepward.domain.task.record import StepRecord
from stepward.domain.workflow.effects import MOST_INLINE, Item
from stepward.domain.workflow.plan import Plan, PlannedStep

Result = Mapping[str, Any]
ITEMS, PARENT_RESULTS = "~items", "~results"
"""The fields of the order of some items that hold them, and the results of the steps before their each."""
NOT_READ: Mapping[str, Result] = {}


def readable(
    steps: Mapping[str, StepRecord], plan: Plan, reader: str = "", large: Mapping[str, Result] = NOT_READ
) -> dict[str, Result]:
    """The results of the steps done so far, by the names under which the step `reader` knows them.

    Of those that are kept in rows of their own it holds what is in `large`. A step of an item knows the others of that
    item by the names that they have in the workflow. Whoever comes after an each knows its items as one result.
    """
    own, found = Item.read(reader), {}
    for name, record in steps.items():
        result, item = large.get(name) if record.size else record.result, Item.read(name)
        if result is None or (item.at >= 0 and ((item.step, item.at) != (own.step, own.at) or record.is_compensation)):
            continue
        found[name if item.at < 0 else item.part or plan.by_name[item.step].parts[0].name] = result
    return found | {each.name: whole(each, steps, large) for each in plan.steps if each.parts and each.name in found}


def whole(each: PlannedStep, steps: Mapping[str, StepRecord], large: Mapping[str, Result] = NOT_READ) -> Result:
    """The result of an each: that of each item's last step, or null if that was skipped; of many, their number."""
    if (count := steps[each.name].items) > MOST_INLINE:
        return {"count": count}
    return {"items": list(_items(each, steps, large))}


def _items(each: PlannedStep, steps: Mapping[str, StepRecord], large: Mapping[str, Result]) -> Iterator[Result | None]:
    for at in range(steps[each.name].items):
        record = steps[each.of_item(at)[-1]]
        yield large.get(record.name) if record.size else record.result
