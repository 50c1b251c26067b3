"""A child: a step that is an order of another workflow; its task is its own, under `parent#step`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepward.domain.errors import Untellable
from stepward.domain.history import HistoryKind
from stepward.domain.key import child_key
from stepward.domain.messages import ChildEnded, ChildHeard, ChildSubmit, ChildUndo, Message, Retry
from stepward.domain.steps.overdue import remind
from stepward.domain.steps.threshold import exhaust
from stepward.domain.steps.waits import not_taken
from stepward.domain.task.claim import resend
from stepward.domain.task.complete import complete, refused
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import UNDO_SUFFIX, Exhausted, forward_name
from stepward.domain.workflow.refs import name_of, resolve
from stepward.domain.workflow.values import MISSING

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.task.change import TaskChange
    from stepward.domain.task.record import StepRecord
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep

INHERITED = ("orderId", "customerId", "priority")
"""What a child's order has of its parent's, unless its template says otherwise."""


def child_order(step: PlannedStep, order: Mapping[str, Any], results: Mapping[str, object]) -> dict[str, object]:
    """The order of the child; raises Untellable if a ref has neither value nor default."""
    made: dict[str, object] = {name: order[name] for name in INHERITED if name in order}
    for name, ref in step.template:
        if (found := resolve(ref, order, results)) is MISSING:
            raise Untellable(f"{name_of(ref)} is missing, which the order of the child {step.name!r} needs")
        made[name] = found
    return made


def deadline(change: TaskChange, step: PlannedStep) -> int:
    """When it is asked again."""
    child_order(step, change.order or {}, change.results())
    return change.now + _round(step)


def begin(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """Have it submitted, or undone."""
    change.messages.extend(asks(change, step, record))


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
    """What has the child tell how it ended, however often it is asked."""
    asked = ChildUndo if record.is_compensation else ChildSubmit
    return [asked(change.task.order_id, forward_name(step.name), record.attempt)]


def hears(change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
    """Take the end of the child; it counts until the step has ended."""
    match event:
        case Retry():
            pass
        case ChildEnded():
            _ended(change, *concerned(change, step, record, event), event)
        case _:
            raise not_taken(step, event)


def concerned(
    change: TaskChange, step: PlannedStep, record: StepRecord, event: ChildEnded
) -> tuple[PlannedStep, StepRecord, str]:
    """The step that the end of a child concerns, forward or its undo, and why that failed; the child is told."""
    if not event.error:  # one that never came hears nothing
        change.messages.append(ChildHeard(child_key(change.task.order_id, event.step), event.undone))
    undo = change.steps.get(step.name + UNDO_SUFFIX)
    if undo is not None and undo.attempt and (event.undone or event.error):
        step, record = change.plan.by_name[undo.name], undo
    return step, record, event.error or ("" if record.is_compensation or not event.undone else "it was undone")


def failed(change: TaskChange, step: PlannedStep, record: StepRecord, why: str, event: ChildEnded) -> None:
    """Refuse the step, once: one that is in Error for good was refused before, and its notice may be lost."""
    if record.process_state is ProcessState.ERROR and step.on_permanent is Exhausted.ALERT:
        change.messages.extend(status_notice(change.task, change.now))
        return
    child = child_key(record.order_id, event.step)
    refused(change, record, f"its child {child}: {why}", cause(record, event))


def told_again(change: TaskChange, record: StepRecord, event: ChildEnded) -> None:
    """Send again what followed from this end, and the notice, if it comes again."""
    resend(change, cause(record, event))
    change.messages.extend(status_notice(change.task, change.now))


def cause(record: StepRecord, event: ChildEnded) -> str:
    """What claims that follow from the end of a child have as their cause."""
    return f"child {event.step}{UNDO_SUFFIX if record.is_compensation else ''}"


def _ended(change: TaskChange, step: PlannedStep, record: StepRecord, why: str, event: ChildEnded) -> None:
    match record.process_state:
        case ProcessState.PENDING | ProcessState.PROCESSING | ProcessState.ERROR if not record.attempt:
            _log_late(change, record, event)
        case ProcessState.PENDING | ProcessState.PROCESSING | ProcessState.ERROR if why:
            failed(change, step, record, why, event)
        case ProcessState.PENDING | ProcessState.PROCESSING | ProcessState.ERROR:
            complete(change, record, event.result, cause(record, event))
            if record.is_compensation:  # this very message may have begun the undo, and then its requests may be lost
                resend(change, f"child {event.step}")
        case _:
            told_again(change, record, event)
            if why:
                _log_late(change, record, event)


def _log_late(change: TaskChange, record: StepRecord, event: ChildEnded) -> None:
    note = f"its child ended {'undone' if event.undone else 'done'}; the step is {record.process_state}"
    change.log(HistoryKind.LATE_REPLY, record.name, record.attempt, note=note)


def late(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask again; after the last time, apply its policy. The child goes on."""
    asked = replace(record, failure_count=record.failure_count + 1)
    overdue = change.overdue(record)
    reason = f"its child {child_key(record.order_id, forward_name(step.name))} has not ended"
    if asked.failure_count >= step.threshold:
        exhaust(change, step, asked, reason, overdue)
        return
    change.log(HistoryKind.REMINDED, step.name, record.attempt, note=reason, value=overdue)
    change.steps[step.name] = replace(asked, complete_by=change.now + _round(step))
    change.messages.extend(asks(change, step, record))


def unclaimed(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask the Scheduler again to begin it."""
    remind(change, step, record, check)


def longest(step: PlannedStep, timing: Timing) -> int:
    """Its limit, each time found late."""
    return step.complete_within + (step.threshold + 1) * (timing.claim_within + timing.skew_margin)


def _round(step: PlannedStep) -> int:
    return step.complete_within // step.threshold
