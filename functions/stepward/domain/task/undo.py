"""Undo: compensates all that an order did or may have done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import ChildSubmit, Reply, StepRequest
from stepward.domain.task.change import LONGEST_NOTE, TaskChange
from stepward.domain.task.claim import claim_ready, claim_token, never_asked, resend
from stepward.domain.task.kinds import items_begun
from stepward.domain.task.record import DONE, ProcessState, StepRecord, Task
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, PlannedStep


def no_return(change: TaskChange) -> str:
    """The point of no return, if that step has begun; else empty."""
    return next((s.name for s in change.plan.steps if s.point_of_no_return and change.steps[s.name].attempt), "")


def begin_undo(change: TaskChange, causation_id: str, why: str, who: str = "") -> None:
    """Fence what runs, drop what has not begun, and plan to undo all that happened or may have happened.

    While the task is paused, no compensation is claimed.
    """
    change.undoing = (why or "no reason given")[:LONGEST_NOTE]
    change.log(HistoryKind.UNDO_BEGUN, by=who, note=change.undoing)
    for found in [record for record in change.steps.values() if not record.is_compensation]:
        record = _retracted(change, found)
        if record.process_state not in DONE:
            change.steps[record.name] = replace(
                record.supplied(),
                process_state=ProcessState.STOPPED,
                locked_by=None,
                complete_by=None,
                alert_by=None,
                not_before=None,
            )
        if not never_asked(record):
            plan_undo_of(change, record)
    claim_ready(change, causation_id)
    log_if_undone(change)


def _retracted(change: TaskChange, record: StepRecord) -> StepRecord:
    """The step as it was before, if this very change has claimed it: so nobody is asked for what would be undone."""
    before = change.task.steps.get(record.name, StepRecord(record.order_id, record.name))
    planned = change.plan.by_name[record.name]
    if not (planned.agent or planned.child) or not record.runs or before.token == record.token:
        return record
    asks = StepRequest | ChildSubmit
    change.messages = [it for it in change.messages if not (isinstance(it, asks) and it.step == record.name)]
    claimed = (HistoryKind.CLAIMED, record.name)
    change.history = [entry for entry in change.history if (entry.kind, entry.step) != claimed]
    return before


def plan_undo_of(change: TaskChange, record: StepRecord) -> None:
    """Add the record that undoes what the step's present executor did, if it can be undone."""
    planned = change.plan.by_name[record.name]
    name = planned.executor(record.policy).effect + UNDO_SUFFIX
    items = items_begun(planned, record) if planned.parts else 0
    if name in change.plan.by_name and name not in change.steps and (items or not planned.parts):
        change.steps[name] = StepRecord(change.task.order_id, name, items=items)


def log_if_undone(change: TaskChange) -> None:
    """Log the end of an undo once every compensation is Processed."""
    if change.undoing and all(map(change.is_done, change.compensations())):
        change.log(HistoryKind.UNDONE, note=change.undoing, value=change.now - change.task.created_at)


def lasting_effects(task: Task, plan: Plan) -> Iterator[tuple[str, bool]]:
    """What no undo takes back: each step that was asked for and has none, and whether it surely had its effect."""
    for name, record in task.steps.items():
        planned = plan.by_name[name]
        if record.is_compensation or never_asked(record) or Item.read(name).at >= 0:
            continue
        if (record.items or not planned.parts) and is_lasting(planned, record.policy):
            had_effect = record.process_state is ProcessState.PROCESSED or record.result is not None
            yield name, had_effect and not (planned.child or planned.parts)


def is_lasting(step: PlannedStep, policy: int = 0) -> bool:
    """Whether its effect stands after an undo, or that of a step within it may."""
    if within := step.child.steps if step.child else step.parts:
        return any(map(is_lasting, within))
    return bool(step.agent) and not step.executor(policy).undo


def undo_late_effect(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Undo a step again because a fenced attempt had its effect after all: its undo may have come too early.

    That holds for an undo that is running, too: whatever it answers, another attempt follows. A second reply of the
    same content may report a second effect, at a service that forgets its keys, and is undone as well. It counts as a
    repetition only while the undo runs that this very reply has caused.
    """
    name = change.plan.by_name[record.name].executor(record.policy).effect + UNDO_SUFFIX
    undo = change.steps.get(name)
    running = undo is not None and undo.process_state is ProcessState.PROCESSING
    if undo and running and undo.token == claim_token(change.task, reply.token, name, undo.attempt):
        resend(change, reply.token)
        change.log(HistoryKind.LATE_REPLY, record.name, reply.attempt, note="its effect is being undone already")
        return
    change.log(HistoryKind.LATE_EFFECT, record.name, reply.attempt, note="it answered ok after the undo had begun")
    change.steps[record.name] = replace(record, result=reply.result, size=reply.size)
    if undo and (running or change.is_done(name)):
        change.steps[name] = replace(undo.freed(), ended_at=None)
        claim_ready(change, reply.token)
