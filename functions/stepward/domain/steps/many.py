"""An each of more items than its task holds: each ten of them are a child, and its record keeps a bit of every one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from stepward.domain.messages import ChildEnded, ChildSubmit, ChildUndo
from stepward.domain.steps.child import cause, concerned, failed, told_again
from stepward.domain.task.complete import complete
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.task.results import ITEMS
from stepward.domain.workflow.effects import MOST_INLINE, tens
from stepward.domain.workflow.plan import Plan, PlannedStep, forward_name

if TYPE_CHECKING:
    from stepward.domain.task.change import TaskChange

ASKED_AGAIN_MS = 3_600_000
"""How often the children under way are asked again, in case a message was lost: nothing else is lost."""


def is_many(record: StepRecord) -> bool:
    """Whether its items are done by children."""
    return record.items > MOST_INLINE


def by_children(record: StepRecord) -> bool:
    """Whether its items are done, or undone, by children."""
    return record.is_compensation or is_many(record)


def plan_of(plan: Plan, step: PlannedStep) -> Plan:
    """The plan of a child: the each alone, for the items of its own order."""
    alone = replace(step, after=(), when=(), items=("order", ITEMS), at_once=min(step.at_once, MOST_INLINE))
    return Plan(plan.workflow, plan.version, (alone,), is_child=True)


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[ChildSubmit | ChildUndo]:
    """What has each child under way begin, or be undone, or tell how it ended; nothing while the order is halted."""
    asked = ChildUndo if record.is_compensation else ChildSubmit
    names = [f"{forward_name(step.name)}.{at}" for at in under_way(step, record)]
    return [] if _held(change, step, record) else [asked(change.task.order_id, name, record.attempt) for name in names]


def ask_again(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """Ask the children that should be under way; those of a halted order once it goes on."""
    again = None if _held(change, step, record) else change.now + ASKED_AGAIN_MS
    change.steps[step.name] = replace(record, complete_by=again)
    change.messages.extend(asks(change, step, record))


def _held(change: TaskChange, step: PlannedStep, record: StepRecord) -> bool:
    """Whether it asks no child. Past the order's complete-by, children that have all begun are asked as before."""
    if record.complete_by is None or begun(step, record) < children(record):
        return change.halted
    return bool(change.paused) or change.has_error


def begun(step: PlannedStep, record: StepRecord) -> int:
    """How many children have been asked for: as many as have ended, and those under way."""
    return min(children(record), ended(record) + max(1, step.at_once // MOST_INLINE))


def items_begun(step: PlannedStep, record: StepRecord) -> int:
    """How many items were given to children."""
    return begun(step, record) * MOST_INLINE if is_many(record) else 0


def children(record: StepRecord) -> int:
    """How many children do its items, or undo them."""
    return tens(record.items)


def ended(record: StepRecord) -> int:
    """How many children have ended."""
    return _ended(record).bit_count()


def _ended(record: StepRecord) -> int:
    """The bits of the children that have ended; in an undo, of those that are undone."""
    return int(record.ended or "0", 16)


def under_way(step: PlannedStep, record: StepRecord) -> Iterator[int]:
    """The children that have been asked for and have not ended; an undo goes from the last one down."""
    for turn in range(begun(step, record)):
        at = children(record) - 1 - turn if record.is_compensation else turn
        if not _ended(record) >> at & 1:
            yield at


def hear(change: TaskChange, step: PlannedStep, record: StepRecord, event: ChildEnded) -> None:
    """Note the end of a child, and ask for the next; it counts until the step has ended."""
    step, record, why = concerned(change, step, record, event)
    match record.process_state:
        case ProcessState.PROCESSING | ProcessState.PENDING | ProcessState.ERROR if why:
            failed(change, step, record, why, event)
        case ProcessState.PROCESSING | ProcessState.PENDING | ProcessState.ERROR:
            _note(change, step, record, int(event.step.partition(".")[2]), cause(record, event))
        case _:
            told_again(change, record, event)


def _note(change: TaskChange, step: PlannedStep, record: StepRecord, at: int, causation_id: str) -> None:
    """Set the child's bit. The first time asks for the next child only, another time for all that are under way."""
    before, held = set(under_way(step, record)), _held(change, step, record)
    noted = replace(record, ended=f"{_ended(record) | 1 << at:x}")
    change.steps[step.name] = noted
    if ended(noted) == children(record):
        complete(change, noted, {}, causation_id)
    elif held:
        change.steps[step.name] = replace(noted, complete_by=None)
    elif record.runs:
        new = {f"{forward_name(step.name)}.{each}" for each in under_way(step, noted) if each not in before}
        fresh = noted.ended != record.ended
        change.messages.extend(ask for ask in asks(change, step, noted) if not fresh or ask.step in new)
