"""An each of more items than its task holds: each ten of them are a child, and its record keeps a bit of every one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from stepward.domain.key import child_key
from stepward.domain.messages import ChildEnded, ChildHeard, ChildSubmit, ChildUndo
from stepward.domain.task.claim import resend
from stepward.domain.task.complete import complete, refused
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.task.results import ITEMS
from stepward.domain.workflow.effects import MOST_INLINE
from stepward.domain.workflow.plan import UNDO_SUFFIX, Exhausted, Plan, PlannedStep, forward_name

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
    return -(-record.items // MOST_INLINE)


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
    if not event.error:
        change.messages.append(ChildHeard(child_key(change.task.order_id, event.step), event.undone))
    undo = change.steps.get(step.name + UNDO_SUFFIX)
    if undo is not None and undo.attempt and (event.undone or event.error):
        step, record = change.plan.by_name[undo.name], undo
    why = event.error or ("" if record.is_compensation or not event.undone else "it was undone")
    causation_id = f"child {event.step}{UNDO_SUFFIX if record.is_compensation else ''}"
    match record.process_state:
        case ProcessState.ERROR if why and step.on_permanent is Exhausted.ALERT:
            change.messages.extend(status_notice(change.task, change.now))
        case ProcessState.PROCESSING | ProcessState.PENDING | ProcessState.ERROR if why:
            child = child_key(record.order_id, event.step)
            refused(change, record, f"its child {child}: {why}", causation_id)
        case ProcessState.PROCESSING | ProcessState.PENDING | ProcessState.ERROR:
            _note(change, step, record, int(event.step.partition(".")[2]), causation_id)
        case _:
            resend(change, causation_id)
            change.messages.extend(status_notice(change.task, change.now))


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
