"""What a step reads of the results of the steps before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepward.domain.task.record import StepRecord
from stepward.domain.workflow.effects import MOST_INLINE, Item
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.domain.workflow.values import UNREAD, Unread

Result = Mapping[str, Any]
ITEMS, PARENT_RESULTS = "~items", "~results"
"""The fields of the order of some items that hold them, and the results of the steps before their each."""
NOT_READ: Mapping[str, Result] = {}


def readable(
    steps: Mapping[str, StepRecord], plan: Plan, reader: str = "", large: Mapping[str, Result] = NOT_READ
) -> dict[str, Result | Unread]:
    """The results of the steps done so far, by the names under which the step `reader` knows them.

    Those that are kept in rows of their own are in `large`, or else UNREAD, and so is an each that has such an item. A
    step of an item knows the others of that item by the names that they have in the workflow. Whoever comes after an
    each knows its items as one result.
    """
    own, found = Item.read(reader), dict[str, Result | Unread]()
    for name, record in steps.items():
        result, item = _result(record, large), Item.read(name)
        if result is None or (item.at >= 0 and ((item.step, item.at) != (own.step, own.at) or record.is_compensation)):
            continue
        found[name if item.at < 0 else item.part or plan.by_name[item.step].parts[0].name] = result
    return found | {each.name: whole(each, steps, large) for each in plan.steps if each.parts and each.name in found}


def at_hand(results: Mapping[str, Result | Unread]) -> dict[str, Result]:
    """The results without those that are UNREAD, which nobody may send."""
    return {name: result for name, result in results.items() if result is not UNREAD}


def whole(
    each: PlannedStep, steps: Mapping[str, StepRecord], large: Mapping[str, Result] = NOT_READ
) -> Result | Unread:
    """The result of an each: that of each item's last step, or null if that was skipped; of many, their number."""
    if (count := steps[each.name].items) > MOST_INLINE:
        return {"count": count}
    items = [_result(steps[each.of_item(at)[-1]], large) for at in range(count)]
    return UNREAD if UNREAD in items else {"items": items}


def _result(record: StepRecord, large: Mapping[str, Result]) -> Result | Unread | None:
    return large.get(record.name, UNREAD) if record.size else record.result
