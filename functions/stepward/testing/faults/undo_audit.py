"""The invariants of undo and of what the submitter is told, each as a function that names what is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stepward.domain.messages import Notice, Status
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import UNDO_SUFFIX, forward_name
from stepward.testing.faults.record import Record

REACHED = {
    Status.COMPLETED: ProcessState.PROCESSED,
    Status.FAILED: ProcessState.ERROR,
    Status.UNDOING: ProcessState.UNDOING,
    Status.UNDONE: ProcessState.UNDONE,
    Status.UNDO_FAILED: ProcessState.UNDO_FAILED,
}


def undone_wrongly(seen: Record) -> Iterator[str]:
    """I6: an effect undone twice, or while one of a later step stands."""
    yield from (
        f"{effect} was undone {times} times" for effect, times in Counter(seen.effects.undone).items() if times > 1
    )
    for called in seen.effects.calls:
        if not called.effect.endswith(UNDO_SUFFIX) or not seen.tasks[called.order_id].undoing:
            continue
        later = seen.plan.dependents[forward_name(called.effect)]
        standing = {effect for effect in called.done_before - called.undone_before if forward_name(effect) in later}
        if standing:
            yield f"{called} came before the undo of {standing}"


def left_standing(seen: Record) -> Iterator[str]:
    """I6, at quiet time: an effect of an Undone order that stands, or one beside those of a Processed order's steps."""
    for order_id, task in seen.tasks.items():
        effects = {effect for order, effect in seen.effects.done if order == order_id}
        standing = effects - {effect for order, effect in seen.effects.undone if order == order_id}
        undoable = {who.effect for step in seen.plan.steps for who in step.executors if who.undo}
        if task.process_state is ProcessState.UNDONE and standing & undoable:
            yield f"{order_id} is Undone and {standing & undoable} stand"
        meant = {
            seen.plan.by_name[name].executor(task.steps[name].policy).effect
            for name in seen.plan.by_name
            if "/" not in name
        }
        if task.process_state is ProcessState.PROCESSED and standing != meant:
            yield f"{order_id} is Processed and {standing} stand, not {meant}"


def told_wrongly(seen: Record) -> Iterator[str]:
    """I8: a notice of a state that was not reached, or one first told after one of a higher revision."""
    reached = {(write.after.order_id, write.after.revision): write.after for write in seen.writes}
    highest: dict[str, int] = {}
    for notice in dict.fromkeys(seen.notices):
        if not is_true(notice, reached.get((notice.order_id, notice.revision))):
            yield f"{notice} was never so"
        if notice.revision < highest.get(notice.order_id, 0):
            yield f"{notice} came after {highest[notice.order_id]}"
        highest[notice.order_id] = notice.revision


def not_told(seen: Record) -> Iterator[str]:
    """I8, at quiet time: an order that ended without its submitter being told."""
    told = {(notice.order_id, notice.status) for notice in seen.notices}
    for order_id, task in seen.tasks.items():
        for status in (Status.COMPLETED, Status.UNDONE):
            if task.process_state is REACHED[status] and (order_id, status) not in told:
                yield f"{order_id} is {status} and nobody was told"


def is_true(notice: Notice, task: Task | None) -> bool:
    """Whether the notice tells what the task was at that revision."""
    if notice.status is Status.RECEIVED:
        return notice.revision == 1 or task is not None
    if task is None:
        return False
    if notice.status is Status.STEP_COMPLETED:
        return task.steps[notice.step].process_state is ProcessState.PROCESSED
    return task.process_state is REACHED[notice.status]
