"""What a submitter is told: each notice names a state that was really reached, and the revision that reached it."""

from __future__ import annotations

from collections.abc import Iterable

from stepward.domain.history import MILESTONE, Fact, FactKind
from stepward.domain.messages import Notice, Status
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.plan import UNDO_SUFFIX

_STANDING = {
    ProcessState.PROCESSED: Status.COMPLETED,
    ProcessState.ERROR: Status.FAILED,
    ProcessState.UNDOING: Status.UNDOING,
    ProcessState.UNDONE: Status.UNDONE,
    ProcessState.UNDO_FAILED: Status.UNDO_FAILED,
}


def notices(task: Task, facts: Iterable[Fact]) -> list[Notice]:
    """The notices that a change to `task` owes its submitter; none if it named no queue."""
    if not task.reply_to:
        return []
    first = task.revision == 2
    told = [_notice(task, Status.RECEIVED, "", task.created_at)] if first else []
    reached = ((fact, _status(task, fact)) for fact in facts)
    told += [_notice(task, status, fact.step, fact.at) for fact, status in reached if status]
    return list(dict.fromkeys(told))


def _status(task: Task, fact: Fact) -> Status | None:
    """What the fact made of the task; None if something else overtook it in the same write."""
    if fact.kind is FactKind.COMPLETED:
        return None if fact.step.endswith(UNDO_SUFFIX) else Status.STEP_COMPLETED
    reached = _STANDING.get(task.process_state) if MILESTONE in fact.kind.marks else None
    overtaken = fact.kind is FactKind.FAILED and reached not in {Status.FAILED, Status.UNDO_FAILED}
    return None if overtaken else reached


def standing(task: Task, now: int) -> list[Notice]:
    """The notice that says where the task stands, to be told again when it may not have been heard."""
    if not task.reply_to:
        return []
    status = _STANDING.get(task.process_state, Status.RECEIVED)
    return [_notice(task, status, "", now)]


def _notice(task: Task, status: Status, step: str, at: int) -> Notice:
    return Notice(task.order_id, task.correlation_id, task.reply_to, status, step, task.revision, at)
