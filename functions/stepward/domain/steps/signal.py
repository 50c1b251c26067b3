"""A signal: a step that somebody outside ends with an answer; it holds no function meanwhile."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.messages import OPERATORS, Message, Retry, SignalGiven
from stepward.domain.steps.overdue import remind
from stepward.domain.steps.threshold import exhaust
from stepward.domain.steps.waits import not_taken
from stepward.domain.task.claim import resend
from stepward.domain.task.complete import complete, refused
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import Early, ProcessState
from stepward.domain.task.refusals import RefusalCode
from stepward.domain.workflow.plan import Exhausted

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.task.change import TaskChange
    from stepward.domain.task.record import StepRecord
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep, Policy

UNGIVEN = "nobody gave the signal"
"""So the note of a signal begins that did not come in time."""
ENDED = frozenset({ProcessState.PROCESSED, ProcessState.SKIPPED, ProcessState.STOPPED})


def deadline(change: TaskChange, step: PlannedStep) -> int:
    """When its first policy applies."""
    return change.now + step.complete_within


def begin(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """A signal that came early counts now."""
    if record.early:
        _end(change, replace(record, early=None), record.early, change.cause)


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
    """Nothing: nobody is asked."""
    return []


def hears(change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
    """Take a signal: the first one counts, early or in time; any other is told to whoever sent it."""
    if isinstance(event, Retry):
        return
    if not isinstance(event, SignalGiven):
        raise not_taken(step, event)
    given = Early(event.signal_id, event.data, event.refused, event.who)
    if step.by and event.door != step.by:
        _tell(change, event, RefusalCode.WRONG_DOOR, f"is accepted from {step.by} only")
    elif given.signal_id in {record.token, record.early and record.early.signal_id}:
        resend(change, given.signal_id)
        change.messages.extend(status_notice(change.task, change.now))
    elif record.process_state in ENDED:
        _tell(change, event, RefusalCode.LATE, f"came too late: the step is {record.process_state}")
    elif record.token:
        _end(change, record.supplied(), given, given.signal_id)
    elif record.early:
        _tell(change, event, RefusalCode.GIVEN, f"was given before, as {record.early.signal_id}")
    else:
        change.steps[step.name] = replace(record, early=given)
        _log(change, record, given)


def _tell(change: TaskChange, event: SignalGiven, code: RefusalCode, why: str) -> None:
    """An operator hears why in the answer to the command; the submitter's signal is kept as a reject."""
    if event.door != OPERATORS:
        raise Rejected("name", f"signal {event.step!r} {why}")
    change.refuse(event, code, f"signal {event.step!r} {why}")


def late(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Nobody gave it in time: apply its next policy."""
    policy, reason = step.next_policy(record.policy), f"{UNGIVEN} {step.name!r}"
    overdue = change.overdue(record)
    match policy.kind:
        case Exhausted.REMIND if record.rounds < policy.rounds:
            _remind(change, record, policy, f"{reason} yet")
        case Exhausted.REMIND:
            late(change, step, replace(record, policy=record.policy + 1, rounds=0), check)
        case Exhausted.DEFAULT:
            change.log(HistoryKind.SIGNALLED, step.name, record.attempt, note=f"{reason}; its default answer counts")
            complete(change, record, json.loads(policy.answer), "default")
        case _:
            exhaust(change, step, record, reason, overdue)


def _remind(change: TaskChange, record: StepRecord, policy: Policy, reason: str) -> None:
    """Alert an operator, and wait on."""
    change.log(HistoryKind.REMINDED, record.name, record.attempt, note=reason)
    change.alert(replace(record, rounds=record.rounds + 1, complete_by=change.now + policy.wait, lacks=reason))


def unclaimed(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim it."""
    remind(change, step, record, check)


def longest(step: PlannedStep, timing: Timing) -> int:
    """Its limit, with the reminders."""
    reminders = sum(policy.wait * policy.rounds for policy in step.exhausted)
    return step.complete_within + reminders + 2 * (timing.claim_within + timing.skew_margin)


def _end(change: TaskChange, record: StepRecord, given: Early, causation_id: str) -> None:
    """End the step as the signal says; `causation_id` is the message that ends it, or the one that began it."""
    _log(change, record, given)
    record = replace(record, token=given.signal_id)
    if given.refused:
        refused(change, record, f"refused by {given.who}: {given.refused}", causation_id)
    else:
        complete(change, record, given.data, causation_id)


def _log(change: TaskChange, record: StepRecord, given: Early) -> None:
    change.log(HistoryKind.SIGNALLED, record.name, record.attempt, given.who, given.refused or given.signal_id)
