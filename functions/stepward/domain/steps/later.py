"""A call that its service answers later: the agent hands it over, and the service ends it by a callback."""

from __future__ import annotations

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Answered, Outcome, Reply
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import resend
from stepward.domain.task.complete import complete, refused
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import SERVICE, ProcessState, StepRecord
from stepward.domain.task.undo import undo_late_effect
from stepward.domain.workflow.plan import PlannedStep


def hand_over(change: TaskChange, record: StepRecord) -> None:
    """Wait for the service itself, once: a second report changes nothing."""
    if record.locked_by != SERVICE:
        limit = change.now + change.plan.by_name[record.name].answer_within
        change.steps[record.name] = replace(record.supplied(), locked_by=SERVICE, complete_by=limit, raised=None)
        change.log(HistoryKind.HANDED_OVER, record.name, record.attempt, record.locked_by or "")


def hear_service(change: TaskChange, step: PlannedStep, record: StepRecord, event: Answered) -> None:
    """Take the service's answer: success from any attempt, since it may keep its first token; failure from this one."""
    causation_id = f"callback {event.attempt}"
    ours = event.created_at == change.task.created_at and event.effect == step.executor(record.policy).effect
    if not ours or event.attempt > record.attempt:
        _log_late(change, record, event)
        return
    match record.process_state:
        case ProcessState.PROCESSED:
            resend(change, causation_id)
            change.messages.extend(status_notice(change.task, change.now))
            if event.error or event.result != record.result:
                _log_late(change, record, event)
        case ProcessState.STOPPED if not event.error:
            done = Reply(change.task.order_id, step.name, event.attempt, causation_id, Outcome.OK, event.result)
            undo_late_effect(change, record, done)
        case ProcessState.PROCESSING if event.error and event.attempt == record.attempt:
            refused(change, record, event.error, causation_id)
        case ProcessState.PENDING | ProcessState.PROCESSING | ProcessState.ERROR if not event.error:
            complete(change, record, event.result, causation_id)
        case _:
            resend(change, causation_id)
            _log_late(change, record, event)


def _log_late(change: TaskChange, record: StepRecord, event: Answered) -> None:
    said = "failed" if event.error else "completed"
    note = f"its service answered {said} for attempt {event.attempt}; the step is {record.process_state}"
    change.log(HistoryKind.LATE_REPLY, record.name, event.attempt, note=note)
