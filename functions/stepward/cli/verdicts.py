"""Whether anything would come of a message that was not delivered, now that time has passed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from stepward.cli.story import stuck_at
from stepward.cli.terminal import span
from stepward.domain.draft import Draft
from stepward.domain.facts import FactKind
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
    ToScheduler,
    Undo,
)
from stepward.domain.task import Loaded, ProcessState, StepRecord
from stepward.domain.timing import Timing

OfStep = Retry | Resubmit | Reply | StepRequest
OfTask = Start | Report | Undo | Cancel | Pause | Resume
ENDED = frozenset({ProcessState.PROCESSED, ProcessState.UNDONE})


class Standing(StrEnum):
    """What can be done with a message: send it again, or nothing, as the order has moved on or it makes no sense."""

    CURRENT = "current"
    STALE = "stale"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a message stands, and why, in words."""

    standing: Standing
    reason: str


def judge(message: ToScheduler | StepRequest, loaded: Loaded | None, *, sent_at: int, now: int) -> Verdict:
    """How `message`, sent at `sent_at`, stands with the order at `now` (epoch ms)."""
    if loaded is None:
        return Verdict(Standing.STALE, f"there is no order {message.order_id}")
    stale = _of_step(message, loaded, now) if isinstance(message, OfStep) else _of_task(message, loaded, sent_at)
    return Verdict(Standing.STALE, stale) if stale else Verdict(Standing.CURRENT, "it would still have its effect")


def _of_step(message: OfStep, loaded: Loaded, now: int) -> str:
    record = loaded.task.steps.get(message.step)
    if record is None:
        return f"the order has no step {message.step}"
    match message:
        case Retry():
            return _retry(message, record, loaded, now)
        case Resubmit():
            same = (record.process_state, record.attempt) == (ProcessState.ERROR, message.attempt)
            return "" if same else _moved_on(record)
        case Reply():
            late_effect = record.process_state is ProcessState.STOPPED and message.outcome is Outcome.OK
            if late_effect and (record.attempt, record.token) == (message.attempt, message.token):
                return ""
            return _running(message, record, record.complete_by or 0, now)
        case StepRequest():
            return _running(message, record, min(message.complete_by, record.complete_by or 0), now)
        case _:
            assert_never(message)


def _of_task(message: OfTask, loaded: Loaded, sent_at: int) -> str:
    task = loaded.task
    match message:
        case Start():
            return (
                "" if task.process_state is ProcessState.PENDING else f"the order has begun: it is {task.process_state}"
            )
        case Report():
            return ""
        case Undo() | Cancel():
            if task.undoing:
                return f"the order is {task.process_state} already"
            stuck = stuck_at(task, loaded.plan)
            return f"the order is past its point of no return, {stuck}" if stuck else ""
        case Pause() | Resume():
            return _pause(message, loaded, sent_at)
        case _:
            assert_never(message)


def _retry(message: Retry, record: StepRecord, loaded: Loaded, now: int) -> str:
    if (record.process_state, record.attempt) != (ProcessState.PENDING, message.attempt):
        return _moved_on(record)
    ready = {step.name for step in Draft(loaded.task, loaded.plan, now, "", Timing()).ready()}
    return "" if record.name in ready else f"{record.name} cannot run now; it is asked for by itself when it can"


def _running(message: Reply | StepRequest, record: StepRecord, until: int, now: int) -> str:
    ours = (record.attempt, record.token) == (message.attempt, message.token)
    if record.process_state is not ProcessState.PROCESSING or not ours:
        return _moved_on(record)
    late = now - until
    return f"its complete-by passed {span(late)} ago; the Supervisor has the step run again" if late > 0 else ""


def _pause(message: Pause | Resume, loaded: Loaded, sent_at: int) -> str:
    """An old word must not undo a newer one."""
    task, pauses = loaded.task, isinstance(message, Pause)
    newer = [fact for fact in task.history if fact.kind in {FactKind.PAUSED, FactKind.RESUMED} and fact.at >= sent_at]
    if newer:
        return f"{newer[-1].by} has {newer[-1].kind.lower()} the order since"
    if bool(task.paused) is pauses:
        return "the order is paused already" if pauses else "the order is not paused"
    return f"the order is {task.process_state}" if pauses and task.process_state in ENDED else ""


def _moved_on(record: StepRecord) -> str:
    return f"the order has moved on: {record.name} is {record.process_state} at attempt {record.attempt}"
