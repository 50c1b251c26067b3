"""The whole policy of a task as one pure function: (task, event, now) -> (task, messages)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, assert_never

from stepward.domain.coordination.outlook import DeadlineCheck, Outlook
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import (
    Answered,
    Cancel,
    ChildEnded,
    ChildHeard,
    ChildUndo,
    Pause,
    Reply,
    Report,
    Resubmit,
    Resume,
    Retry,
    SignalGiven,
    Start,
    StepWaits,
    TaskAlert,
    Undo,
)
from stepward.domain.task.change import LONGEST_NOTE, Decision, TaskChange
from stepward.domain.task.claim import claim, claim_ready, ready, resend
from stepward.domain.task.deadlines import check_deadlines
from stepward.domain.task.kinds import kind_of, tell_parent
from stepward.domain.task.notices import status_notice
from stepward.domain.task.order_limit import lift_limit, times_out, undoes
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.task.undo import begin_undo, no_return
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan


@dataclass(frozen=True, slots=True)
class AlertSent:
    """An operator has been alerted that this step ended in Error at `attempt`, or that it `waits`."""

    step: str
    attempt: int
    waits: bool = False

    @staticmethod
    def of(alert: TaskAlert) -> AlertSent:
        """That this alert is out."""
        return AlertSent(alert.step, alert.attempt, isinstance(alert, StepWaits))


OfStep = Retry | Resubmit | Reply | SignalGiven | Answered | ChildEnded | AlertSent
OfTask = Start | Undo | Cancel | ChildUndo | ChildHeard | Pause | Resume | Report | DeadlineCheck
Event = OfStep | OfTask
NOTHING_KNOWN = Outlook()
NO_ORDER: Mapping[str, Any] = {}


def decide(
    task: Task,
    plan: Plan,
    event: Event,
    *,
    now: int,
    by: str,
    timing: Timing,
    order: Mapping[str, Any] | None = NO_ORDER,
    outlook: Outlook = NOTHING_KNOWN,
) -> Decision:
    """What `event` makes of `task` at `now` (epoch ms), on behalf of the instance `by`.

    `order` is the submitted order, which a claim needs; with None the Scheduler is asked to claim what is ready.
    `outlook` is what is known of agents, see `in_question`. The task in the answer is the same object if nothing is to
    be written. Raises Rejected if the event names a step that the task does not have.
    """
    order = None if isinstance(event, DeadlineCheck) else order
    change = TaskChange(task, plan, now, by, timing, order, outlook)
    if isinstance(event, OfStep):
        _of_step(change, event)
    else:
        _of_task(change, event)
    if task.parent is not None:
        tell_parent(change, event)
    return change.decision(list(ready(change)), times_out(change))


def _of_step(change: TaskChange, event: OfStep) -> None:
    name = event.step.partition(".")[0] if isinstance(event, ChildEnded) else event.step
    if name not in change.steps:
        raise Rejected("step", f"{event.step!r} is not a step of this task")
    record = change.steps[name]
    match event:
        case Retry():
            _retry(change, record, event)
        case Resubmit():
            _resubmit(change, record, event)
        case Reply() | SignalGiven() | Answered() | ChildEnded():
            planned = change.plan.by_name[record.name]
            kind_of(planned.kind).hears(change, planned, record, event)
        case AlertSent():
            _confirm_alert(change, record, event)
        case _:
            assert_never(event)


def _of_task(change: TaskChange, event: OfTask) -> None:
    match event:
        case Start():
            resend(change, "start")
            if change.task.revision > 1:
                change.messages.extend(status_notice(change.task, change.now))
            claim_ready(change, "start")
        case Undo() | Cancel() | ChildUndo():
            _undo(change, event)
        case Pause():
            _pause(change, event)
        case Resume():
            _resume(change, event)
        case Report() | ChildHeard():
            change.messages.extend(status_notice(change.task, change.now))
        case DeadlineCheck():
            check_deadlines(change, event)
        case _:
            assert_never(event)


def _undo(change: TaskChange, event: Undo | Cancel | ChildUndo) -> None:
    if change.undoing:
        resend(change, "undo")
        change.messages.extend(status_notice(change.task, change.now))
        change.refuse(event, RefusalCode.UNDO_BEGUN, f"the order is {change.task.process_state} already")
    elif stuck := no_return(change):
        change.messages.extend(status_notice(change.task, change.now))
        change.refuse(event, RefusalCode.PAST_NO_RETURN, f"the order is past its point of no return, {stuck}")
    elif change.parent and change.task.has_ended and not isinstance(event, ChildUndo):
        change.refuse(event, RefusalCode.ENDED, f"it is done, and a part of {change.parent.order_id}; undo that order")
    else:
        change.paused = ""
        lift_limit(change)
        begin_undo(change, "undo", event.why, event.who)


def _pause(change: TaskChange, event: Pause) -> None:
    if change.paused:
        change.refuse(event, RefusalCode.PAUSED_ALREADY, "nothing to pause: the order is paused")
    elif change.task.has_ended:
        change.refuse(event, RefusalCode.ENDED, f"nothing to pause: the order is {change.task.process_state}")
    elif newer := _newer(change, event, HistoryKind.RESUMED):
        change.refuse(event, RefusalCode.SUPERSEDED, f"{newer.by} has resumed the order since")
    else:
        change.paused = (event.why or "no reason given")[:LONGEST_NOTE]
        change.log(HistoryKind.PAUSED, by=event.who, note=event.why)


def _resume(change: TaskChange, event: Resume) -> None:
    resend(change, "resume")
    if not change.paused:
        change.refuse(event, RefusalCode.NOT_PAUSED, "nothing to resume: the order is not paused")
    elif newer := _newer(change, event, HistoryKind.PAUSED):
        change.refuse(event, RefusalCode.SUPERSEDED, f"{newer.by} has paused the order again since")
    else:
        change.paused = ""
        change.log(HistoryKind.RESUMED, by=event.who, note=event.why)
        claim_ready(change, "resume")


def _newer(change: TaskChange, event: Pause | Resume, opposite: HistoryKind) -> HistoryEntry | None:
    """The opposite command, if an operator gave it after this one: a queue may deliver late, or twice."""
    opposites = (entry for entry in reversed(change.task.history) if entry.kind is opposite)
    return next((entry for entry in opposites if 0 < event.asked_at < entry.at), None)


def _retry(change: TaskChange, record: StepRecord, event: Retry) -> None:
    causation_id = f"retry {event.step} {event.attempt}"
    resend(change, causation_id)
    planned = change.plan.by_name[record.name]
    if change.task.ended_at is not None or change.in_error:
        change.notify()  # this very message may have brought it there, and the notice of that may be lost
    if record.runs:
        kind_of(planned.kind).hears(change, planned, record, event)
        return
    if record.attempt != event.attempt or planned not in ready(change):
        return
    if (early := (record.not_before or 0) - change.now) > 0:
        change.messages.append(replace(event, delay=early))
    else:
        claim(change, planned, causation_id)


def _resubmit(change: TaskChange, record: StepRecord, event: Resubmit) -> None:
    causation_id = f"resubmit {event.step} {event.attempt}"
    if record.process_state is not ProcessState.ERROR or record.attempt != event.attempt:
        resend(change, causation_id)
        text = f"nothing to resubmit: the step is {record.process_state} at attempt {record.attempt}"
        change.refuse(event, RefusalCode.NOT_IN_ERROR, text)
        return
    if change.is_late and undoes(change):
        change.refuse(event, RefusalCode.TIMED_OUT, "the order is past its complete-by, and is about to be undone")
        return
    lift_limit(change)
    change.fence_base = change.fence
    change.steps[record.name] = replace(
        record,
        process_state=ProcessState.PENDING,
        complete_by=change.now + change.timing.claim_within,
        failure_count=0,
        policy=change.plan.by_name[record.name].restart(record.policy),
        rounds=0,
        ended_at=None,
        error=None,
        alert_by=None,
    )
    change.log(HistoryKind.RESUBMITTED, record.name, record.attempt, event.who, event.why)
    claim_ready(change, causation_id)


def _confirm_alert(change: TaskChange, record: StepRecord, event: AlertSent) -> None:
    told = (record.process_state is not ProcessState.ERROR) == event.waits
    if record.alert_by is not None and record.attempt == event.attempt and told:
        change.steps[record.name] = replace(record, alert_by=None)
        change.log(HistoryKind.ALERTED, record.name, record.attempt)
