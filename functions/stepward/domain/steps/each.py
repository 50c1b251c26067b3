"""An each: a step that does its parts for every item of a list, some items at a time.

An item's steps are records of their own, made when the item begins: `parcels[3]`, or `parcels[3].pack` of several.
They are calls in everything: key, policies, undo. The each only begins the next item, in the write in which one ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepward.domain.errors import Untellable
from stepward.domain.messages import ChildEnded, ItemRequest, Message, Retry
from stepward.domain.steps import many
from stepward.domain.steps.many import ASKED_AGAIN_MS, by_children, is_many
from stepward.domain.steps.overdue import remind
from stepward.domain.steps.waits import not_taken
from stepward.domain.task.claim import claim_ready
from stepward.domain.task.complete import complete
from stepward.domain.task.kinds import kind_of
from stepward.domain.task.record import Loaded, StepRecord
from stepward.domain.task.results import ITEMS, PARENT_RESULTS, readable
from stepward.domain.task.worst_case import in_turns
from stepward.domain.workflow.effects import MOST_INLINE, Item
from stepward.domain.workflow.refs import name_of, place_of, resolve
from stepward.domain.workflow.values import UNREAD

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.task.change import TaskChange
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep


MOST_ITEMS = 10_000


def listed(step: PlannedStep, order: Mapping[str, Any], results: Mapping[str, Any]) -> list[Any]:
    """The items; raises Untellable, which names the field."""
    found, name = resolve(step.items, order, results), name_of(step.items)
    if not isinstance(found, list):
        said = "null" if found is None else "an object" if isinstance(found, Mapping) else f"{found!r:.40}"
        raise Untellable(f"{name} is {said}, which {step.name!r} does for each item of; expected a list")
    if len(found) > MOST_ITEMS:
        raise Untellable(f"{name} has {len(found):,} items; {step.name!r} does {MOST_ITEMS:,} at most")
    return found


def deadline(change: TaskChange, step: PlannedStep) -> int | None:
    """When its children are asked again; without children None, for its items have deadlines of their own."""
    record = change.steps[step.name]
    children = record.is_compensation or len(_listed(change, step)) > MOST_INLINE
    return change.now + ASKED_AGAIN_MS if children else None


def _listed(change: TaskChange, step: PlannedStep) -> list[Any]:
    return listed(step, change.order or {}, change.results(step.name))


def begin(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """Begin its first items, or undo its last ones; without any it is done."""
    if not record.is_compensation:
        record = change.steps[step.name] = replace(record, items=len(_listed(change, step)))
    if not by_children(record):
        go_on(change, step, change.cause)
        claim_ready(change, change.cause)
    change.messages.extend(asks(change, step, record))


def go_on(change: TaskChange, step: PlannedStep, causation_id: str) -> None:
    """Make the records of the next items, so that `at_once` are under way; after the last one, the step is done.

    A task that is halted gets them as well: what follows claims them when it may.
    """
    record = change.steps[step.name]
    if not record.runs:
        return
    if by_children(record):
        many.ask_again(change, step, record)
        return
    begun = next(at for at in range(record.items + 1) if step.of_item(at)[0] not in change.steps)
    busy = sum(not all(map(change.is_done, step.of_item(at))) for at in range(begun))
    for at in range(begun, min(record.items, begun + step.at_once - busy)):
        change.steps |= {name: StepRecord(change.task.order_id, name) for name in step.of_item(at)}
    if begun == record.items and not busy:
        complete(change, record, {}, causation_id)


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
    """What its children are asked; items that the same message claimed ask for themselves."""
    return [*many.asks(change, step, record)] if by_children(record) else []


def hears(change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
    """Take the end of a child."""
    match event:
        case Retry():
            pass
        case ChildEnded() if is_many(record):
            many.hear(change, step, record, event)
        case _:
            raise not_taken(step, event)


def late(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Begin what should have begun, whenever somebody looks at the task; ask its children again."""
    go_on(change, step, "each")
    claim_ready(change, "each")


def unclaimed(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim it."""
    remind(change, step, record, check)


def longest(step: PlannedStep, timing: Timing) -> int:
    """All its items in their turns, each as slow as can be."""
    item = sum(kind_of(part.kind).longest(part, timing) for part in step.parts)
    return in_turns(step, item) + 2 * (timing.claim_within + timing.skew_margin)


def item_of(change: TaskChange, name: str) -> Any:
    """The item that a step works on."""
    item = Item.read(name)
    return listed(change.plan.by_name[item.step], change.order or {}, change.results(item.step))[item.at]


def with_item(request: ItemRequest, loaded: Loaded) -> ItemRequest:
    """The request with its item, and with the order without the list: else each of many would carry the whole of it."""
    item, order = Item.read(request.step), loaded.order
    step = loaded.plan.by_name[item.step]
    found = listed(step, order, readable(loaded.task.steps, loaded.plan, step.name))[item.at]
    return replace(request, item=found, order=without_list(step, order))


def order_of_some(at: int, step: PlannedStep, order: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """The order of the child at this place: the parent's without the list, with its own items and what they read.

    Of a result that is not at hand it says by a null that there is one.
    """
    items = listed(step, order, results)[at * MOST_INLINE : (at + 1) * MOST_INLINE]
    read = {name: None if result is UNREAD else result for name, result in results.items()}
    return {**without_list(step, order), ITEMS: items, PARENT_RESULTS: read}


def without_list(step: PlannedStep, order: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order without the list, and without what only the task of a child is to know."""
    source, *path = place_of(step.items)
    return _without(_without(order, path) if source == "order" else order, [PARENT_RESULTS])


def _without(order: Mapping[str, Any], path: list[str]) -> Mapping[str, Any]:
    """The order without the field at this path."""
    name, *rest = path
    if rest:
        return {**order, name: _without(order[name], rest)}
    return {key: value for key, value in order.items() if key != name}
