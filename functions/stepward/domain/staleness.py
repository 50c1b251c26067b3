"""Whether a message would still have an effect: a dry run of the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from stepward.domain.errors import Rejected
from stepward.domain.messages import (
    Callback,
    ChildSubmit,
    ChildUndo,
    Command,
    OfChild,
    Pause,
    Report,
    ReportReject,
    Resume,
    Retry,
    Start,
    StepRequest,
    ToScheduler,
)
from stepward.domain.steps.call import is_claimed_by, is_wanted
from stepward.domain.task.decide import decide
from stepward.domain.task.record import ProcessState, Task
from stepward.domain.task.refusals import Refusal, RefusalCode
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan

M = TypeVar("M", bound=ToScheduler | StepRequest)
C = TypeVar("C", bound=Command)


def dated(message: M, at: int) -> M:
    """The message; a pause or resume without a time gets `at` (epoch ms) as the time when it was asked for."""
    if isinstance(message, Pause | Resume) and not message.asked_at:
        return replace(message, asked_at=at)
    return message


def dated_now(command: C, task: Task, now: int) -> C:
    """The same for a command given now: after all of the order's history, whatever this machine's clock says."""
    return dated(command, max([now, *(entry.at for entry in task.history)]))


def staleness(message: ToScheduler | StepRequest, task: Task, plan: Plan, now: int) -> Refusal | None:
    """Why `message` is refused, or neither changes the task nor sends anything; None if it would be applied.

    A request would be applied if the Scheduler would accept the reply to it.
    """
    if isinstance(message, StepRequest):
        return None if is_wanted(message, task, now) else _moved_on(message, task)
    if isinstance(message, ReportReject | Callback | ChildSubmit | ChildUndo):
        return None
    try:
        decision = decide(task, plan, message, now=now, by="", timing=Timing())
    except Rejected as fault:
        return Refusal(RefusalCode.NO_SUCH_STEP, fault.reason)
    if decision.refusal or decision.task is not task or decision.messages:
        return decision.refusal
    return _moved_on(message, task)


def _moved_on(message: ToScheduler | StepRequest, task: Task) -> Refusal:
    if isinstance(message, Start | Report | ReportReject | Callback | OfChild | Command):
        return Refusal(RefusalCode.MOVED_ON, f"nothing is left to do about it: the order is {task.process_state}")
    if (record := task.steps.get(message.step)) is None:
        return Refusal(RefusalCode.NO_SUCH_STEP, f"{message.step!r} is not a step of this task")
    state = f"{record.name} is {record.process_state} at attempt {record.attempt}"
    if isinstance(message, Retry):
        return Refusal(RefusalCode.MOVED_ON, f"nothing to claim: {state}; a ready step is claimed without this message")
    if record.process_state is ProcessState.PROCESSING and is_claimed_by(record, message):
        return Refusal(RefusalCode.LATE, "its complete-by has passed; the Supervisor has the step run again")
    return Refusal(RefusalCode.MOVED_ON, f"the order has moved on: {state}")
