"""The whole policy of a task as one pure function: (task, event, now) -> (task, messages)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from stepward.domain.errors import Rejected
from stepward.domain.history import Fact, FactKind
from stepward.domain.messages import (
    Cancel,
    Outcome,
    Pause,
    Reply,
    Report,
    Resubmit,
    Resume,
    Retry,
    Start,
    StepRequest,
    Undo,
)
from stepward.domain.task.change import LONGEST_NOTE, Decision, Draft
from stepward.domain.task.deadlines import Look, look
from stepward.domain.task.notices import standing
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.task.undo import begin_undo, no_return, tell_if_undone, undo_late_effect
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Exhausted, Plan


@dataclass(frozen=True, slots=True)
class Told:
    """An operator has been told that this step ended in Error at `attempt`."""

    step: str
    attempt: int


OfStep = Retry | Resubmit | Reply | Told
OfTask = Start | Undo | Cancel | Pause | Resume | Report | Look
Event = OfStep | OfTask


def decide(task: Task, plan: Plan, event: Event, *, now: int, by: str, timing: Timing, claims: bool = True) -> Decision:
    """What `event` makes of `task` at `now` (epoch ms), acted on by the instance `by`.

    Without `claims` the Scheduler is asked to claim what may run.
    The task in the answer is the very same object if nothing is to be written. Raises Rejected if the event
    names a step that the task does not have.
    """
    draft = Draft(task, plan, now, by, timing, claims=claims and not isinstance(event, Look))
    if isinstance(event, OfStep):
        _of_step(draft, event)
    else:
        _of_task(draft, event)
    return draft.decision()


def _of_step(draft: Draft, event: OfStep) -> None:
    if event.step not in draft.steps:
        raise Rejected("step", f"{event.step!r} is not a step of this task")
    record = draft.steps[event.step]
    match event:
        case Retry():
            _retry(draft, record, event)
        case Resubmit():
            _resubmit(draft, record, event)
        case Reply():
            _reply(draft, record, event)
        case Told():
            _told(draft, record, event)
        case _:
            assert_never(event)


def _of_task(draft: Draft, event: OfTask) -> None:
    match event:
        case Start():
            draft.resend("start")
            if draft.task.revision > 1:
                draft.messages.extend(standing(draft.task, draft.now))
            draft.go_on("start")
        case Undo() | Cancel():
            _undo(draft, event)
        case Pause():
            _pause(draft, event)
        case Resume():
            _resume(draft, event)
        case Report():
            draft.messages.extend(standing(draft.task, draft.now))
        case Look():
            look(draft, event)
        case _:
            assert_never(event)


def _undo(draft: Draft, event: Undo | Cancel) -> None:
    if draft.undoing:
        draft.resend("undo")
        draft.messages.extend(standing(draft.task, draft.now))
        draft.refuse(event, RefusalCode.UNDO_BEGUN, f"the order is {draft.task.process_state} already")
    elif stuck := no_return(draft):
        draft.messages.extend(standing(draft.task, draft.now))
        draft.refuse(event, RefusalCode.PAST_NO_RETURN, f"the order is past its point of no return, {stuck}")
    else:
        draft.paused = ""
        begin_undo(draft, "undo", event.why, event.who)


def _pause(draft: Draft, event: Pause) -> None:
    if draft.paused:
        draft.refuse(event, RefusalCode.PAUSED_ALREADY, "nothing to pause: the order is paused")
    elif draft.task.has_ended:
        draft.refuse(event, RefusalCode.ENDED, f"nothing to pause: the order is {draft.task.process_state}")
    elif newer := _newer(draft, event, FactKind.RESUMED):
        draft.refuse(event, RefusalCode.SUPERSEDED, f"{newer.by} has resumed the order since")
    else:
        draft.paused = (event.why or "no reason given")[:LONGEST_NOTE]
        draft.tell(FactKind.PAUSED, by=event.who, note=event.why)


def _resume(draft: Draft, event: Resume) -> None:
    draft.resend("resume")
    if not draft.paused:
        draft.refuse(event, RefusalCode.NOT_PAUSED, "nothing to resume: the order is not paused")
    elif newer := _newer(draft, event, FactKind.PAUSED):
        draft.refuse(event, RefusalCode.SUPERSEDED, f"{newer.by} has paused the order again since")
    else:
        draft.paused = ""
        draft.tell(FactKind.RESUMED, by=event.who, note=event.why)
        draft.go_on("resume")


def _newer(draft: Draft, event: Pause | Resume, opposite: FactKind) -> Fact | None:
    """What an operator has said to the opposite since, where a queue brings the command late or a second time."""
    said = (fact for fact in reversed(draft.task.history) if fact.kind is opposite)
    return next((fact for fact in said if 0 < event.asked_at < fact.at), None)


def _retry(draft: Draft, record: StepRecord, event: Retry) -> None:
    cause = f"retry {event.step} {event.attempt}"
    draft.resend(cause)
    planned = draft.plan.by_name[record.name]
    if record.attempt != event.attempt or planned not in draft.ready():
        return
    if (early := (record.not_before or 0) - draft.now) > 0:
        draft.messages.append(replace(event, delay=early))
    else:
        draft.claim(planned, cause)


def _resubmit(draft: Draft, record: StepRecord, event: Resubmit) -> None:
    cause = f"resubmit {event.step} {event.attempt}"
    if record.process_state is not ProcessState.ERROR or record.attempt != event.attempt:
        draft.resend(cause)
        text = f"nothing to resubmit: the step is {record.process_state} at attempt {record.attempt}"
        draft.refuse(event, RefusalCode.NOT_IN_ERROR, text)
        return
    draft.fence_base = draft.fence
    draft.steps[record.name] = replace(
        record,
        process_state=ProcessState.PENDING,
        complete_by=draft.now + draft.timing.claim_within,
        failure_count=0,
        policy=draft.plan.by_name[record.name].restart(record.policy),
        rounds=0,
        ended_at=None,
        error=None,
        alert_by=None,
    )
    draft.tell(FactKind.RESUBMITTED, record.name, record.attempt, event.who, event.why)
    draft.go_on(cause)


def _reply(draft: Draft, record: StepRecord, reply: Reply) -> None:
    ours = is_claimed_by(record, reply)
    match record.process_state:
        case ProcessState.PROCESSING if ours and _is_in_time(record, draft.now):
            _accept(draft, record, reply)
        case ProcessState.PROCESSED if ours:
            draft.resend(reply.token)
            draft.messages.extend(standing(draft.task, draft.now))
        case ProcessState.ERROR if ours and reply.outcome is Outcome.PERMANENT:
            if record.alert_by is not None:
                draft.alert(record)
            draft.messages.extend(standing(draft.task, draft.now))
        case ProcessState.STOPPED if ours and reply.outcome is Outcome.OK:
            undo_late_effect(draft, record, reply)
        case ProcessState.STOPPED if ours:
            draft.resend(reply.token)
            draft.messages.extend(standing(draft.task, draft.now))
        case state:
            draft.resend(reply.token)
            note = f"answered {reply.outcome} for attempt {reply.attempt}; the step is {state} at {record.attempt}"
            draft.tell(FactKind.LATE_REPLY, record.name, reply.attempt, note=note)


def is_wanted(request: StepRequest, task: Task, now: int) -> bool:
    """Whether the reply to `request` would be taken at `now`: its attempt holds the step, and is in time."""
    record = task.steps.get(request.step)
    if record is None or record.process_state is not ProcessState.PROCESSING:
        return False
    return is_claimed_by(record, request) and _is_in_time(record, now)


def is_claimed_by(record: StepRecord, claim: Reply | StepRequest) -> bool:
    """Whether the step's newest attempt is the one that `claim` asks for, or answers."""
    return record.attempt == claim.attempt and record.token == claim.token


def _is_in_time(record: StepRecord, now: int) -> bool:
    return now <= (record.complete_by or 0)


def _accept(draft: Draft, record: StepRecord, reply: Reply) -> None:
    if reply.outcome is Outcome.PERMANENT:
        _refused(draft, record, reply)
        return
    draft.steps[record.name] = replace(
        record,
        process_state=ProcessState.PROCESSED,
        locked_by=None,
        complete_by=None,
        ended_at=draft.now,
        result=reply.result,
    )
    took = draft.now - (record.started_at or draft.now)
    draft.tell(FactKind.COMPLETED, record.name, record.attempt, record.locked_by or "", value=took)
    draft.go_on(reply.token)
    tell_if_undone(draft)
    if all(step.process_state is ProcessState.PROCESSED for step in draft.steps.values()) and not draft.undoing:
        draft.tell(FactKind.PROCESSED, value=draft.now - draft.task.created_at)


def _refused(draft: Draft, record: StepRecord, reply: Reply) -> None:
    reason = reply.error or "the agent gave no reason"
    on_permanent = draft.plan.by_name[record.name].on_permanent
    if on_permanent is Exhausted.UNDO and not draft.undoing and not no_return(draft):
        begin_undo(draft, reply.token, f"{record.name}: {reason}")
    else:
        draft.fail(record, reason)


def _told(draft: Draft, record: StepRecord, event: Told) -> None:
    if record.alert_by is not None and record.attempt == event.attempt:
        draft.steps[record.name] = replace(record, alert_by=None)
        draft.tell(FactKind.ALERTED, record.name, record.attempt)
