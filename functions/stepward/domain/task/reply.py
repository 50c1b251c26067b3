"""What an Agent's reply makes of its step: it counts from the attempt that holds the step, and until complete-by."""

from __future__ import annotations

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.domain.task.change import LONGEST_NOTE, TaskChange
from stepward.domain.task.claim import claim_ready, extend, resend
from stepward.domain.task.lacking import not_understood
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.undo import begin_undo, log_if_undone, no_return, undo_late_effect
from stepward.domain.workflow.plan import Exhausted


def answer(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Take a reply of the step's agent."""
    match reply.outcome:
        case Outcome.NOT_UNDERSTOOD:
            if record.process_state is ProcessState.PROCESSING and is_claimed_by(record, reply):
                not_understood(change, record, reply)
        case Outcome.FAILING:
            _keep_raised(change, record, reply)
        case Outcome.WAITING:
            _wait_longer(change, record, reply)
        case _:
            _reply(change, record, reply)


def _keep_raised(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Keep what the running attempt met; it goes on."""
    runs = record.process_state is ProcessState.PROCESSING and is_claimed_by(record, reply)
    if runs and _is_in_time(record, change.now):
        change.steps[record.name] = replace(record, raised=(reply.error or "an error")[:LONGEST_NOTE])
    else:
        _log_late(change, record, reply)


def _wait_longer(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Give an attempt more time that others hold up, unless it was made and failed."""
    runs = record.process_state is ProcessState.PROCESSING and is_claimed_by(record, reply)
    if runs and _is_in_time(record, change.now) and not record.raised:
        extend(change, record, reply)
    else:
        _log_late(change, record, reply)


def _reply(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    ours = is_claimed_by(record, reply)
    match record.process_state:
        case ProcessState.PROCESSING if ours and _is_in_time(record, change.now):
            _accept(change, record, reply)
        case ProcessState.PROCESSED if ours:
            resend(change, reply.token)
            change.messages.extend(status_notice(change.task, change.now))
        case ProcessState.ERROR if ours and reply.outcome is Outcome.PERMANENT:
            if record.alert_by is not None:
                change.alert(record)
            change.messages.extend(status_notice(change.task, change.now))
        case ProcessState.STOPPED if ours and reply.outcome is Outcome.OK:
            undo_late_effect(change, record, reply)
        case ProcessState.STOPPED if ours:
            resend(change, reply.token)
            change.messages.extend(status_notice(change.task, change.now))
        case _:
            resend(change, reply.token)
            _log_late(change, record, reply)


def _log_late(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    note = (
        f"answered {reply.outcome} for attempt {reply.attempt}; the step is {record.process_state} at {record.attempt}"
    )
    change.log(HistoryKind.LATE_REPLY, record.name, reply.attempt, note=note)


def is_wanted(request: StepRequest, task: Task, now: int) -> bool:
    """Whether the reply to `request` would be accepted at `now`: its attempt holds the step, and is in time."""
    record = task.steps.get(request.step)
    if record is None or record.process_state is not ProcessState.PROCESSING:
        return False
    return is_claimed_by(record, request) and _is_in_time(record, now)


def is_claimed_by(record: StepRecord, claim: Reply | StepRequest) -> bool:
    """Whether the step's newest attempt is the one that `claim` asks for, or answers."""
    return record.attempt == claim.attempt and record.token == claim.token


def _is_in_time(record: StepRecord, now: int) -> bool:
    return now <= (record.complete_by or 0)


def _accept(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    if reply.outcome is Outcome.PERMANENT:
        _refused(change, record, reply)
        return
    change.steps[record.name] = replace(
        record.supplied(),
        process_state=ProcessState.PROCESSED,
        locked_by=None,
        complete_by=None,
        ended_at=change.now,
        result=reply.result,
        raised=None,
    )
    took = change.now - (record.started_at or change.now)
    change.log(HistoryKind.COMPLETED, record.name, record.attempt, record.locked_by or "", value=took)
    claim_ready(change, reply.token)
    log_if_undone(change)
    if all(step.process_state is ProcessState.PROCESSED for step in change.steps.values()) and not change.undoing:
        change.log(HistoryKind.PROCESSED, value=change.now - change.task.created_at)


def _refused(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    reason = reply.error or "the agent gave no reason"
    on_permanent = change.plan.by_name[record.name].on_permanent
    if on_permanent is Exhausted.UNDO and not change.undoing and not no_return(change):
        begin_undo(change, reply.token, f"{record.name}: {reason}")
    else:
        change.fail(record, reason)
