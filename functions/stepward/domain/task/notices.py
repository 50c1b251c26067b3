"""Notices to submitters: each names a state that was really reached, and the revision that reached it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stepward.domain.history import MILESTONE, HistoryEntry, HistoryKind
from stepward.domain.messages import Notice, Status
from stepward.domain.task.record import ProcessState, Task, TimeLimit
from stepward.domain.workflow.plan import UNDO_SUFFIX

_STATUS_OF_STATE = {
    ProcessState.PROCESSED: Status.COMPLETED,
    ProcessState.ERROR: Status.FAILED,
    ProcessState.UNDOING: Status.UNDOING,
    ProcessState.UNDONE: Status.UNDONE,
    ProcessState.UNDO_FAILED: Status.UNDO_FAILED,
}


def notices(task: Task, history: Iterable[HistoryEntry]) -> list[Notice]:
    """The notices to send for a change that made `task`; none if the submitter named no queue."""
    if not task.reply_to:
        return []
    first = task.revision == 2
    found = [_notice(task, Status.RECEIVED, "", task.created_at)] if first else []
    reached = ((entry, _status(task, entry)) for entry in history)
    found += [_notice(task, status, entry.step, entry.at) for entry, status in reached if status]
    return list(dict.fromkeys(found))


def _status(task: Task, entry: HistoryEntry) -> Status | None:
    """The status that the entry brought the order to; None if the same write superseded it."""
    if entry.kind is HistoryKind.COMPLETED:
        return None if entry.step.endswith(UNDO_SUFFIX) else Status.STEP_COMPLETED
    reached = _STATUS_OF_STATE.get(task.process_state) if MILESTONE in entry.kind.marks else None
    superseded = entry.kind is HistoryKind.FAILED and reached not in {Status.FAILED, Status.UNDO_FAILED}
    return None if superseded else reached


def status_notice(task: Task, now: int) -> list[Notice]:
    """The notice of the task's present status, which is sent again when an earlier one may have been lost."""
    if not task.reply_to:
        return []
    status = _STATUS_OF_STATE.get(task.process_state, Status.RECEIVED)
    first = task.fence == 0 and status is not Status.RECEIVED  # nothing was claimed: it may not have been sent at all
    found = [_notice(task, Status.RECEIVED, "", task.created_at)] if first else []
    return [*found, _notice(task, status, "", now)]


def at_revision(notice: Notice, task: Task) -> Notice | None:
    """The notice as `task` was written; None if it says what the same write superseded."""
    if notice.status in _STATUS_OF_STATE.values() and notice.status is not _STATUS_OF_STATE.get(task.process_state):
        return None
    return replace(notice, revision=task.revision)


def _notice(task: Task, status: Status, step: str, at: int) -> Notice:
    stopped = task.time_limit is TimeLimit.PASSED and status in {*_STATUS_OF_STATE.values()} - {Status.COMPLETED}
    reason = "complete-by" if stopped else ""
    return Notice(task.order_id, task.correlation_id, task.reply_to, status, step, task.revision, at, reason)
