"""A call: a step that an Agent does; its reply counts from the attempt that holds the step, and until complete-by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Answered, CheckedRequest, ItemRequest, Message, Outcome, Reply, Retry, StepRequest
from stepward.domain.steps.later import hand_over, hear_service
from stepward.domain.steps.overdue import recover, remind
from stepward.domain.steps.waits import not_taken
from stepward.domain.task.change import LONGEST_NOTE, TaskChange
from stepward.domain.task.claim import resend
from stepward.domain.task.complete import complete, refused
from stepward.domain.task.lacking import not_understood, without_queue
from stepward.domain.task.notices import status_notice
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.task.results import at_hand
from stepward.domain.task.undo import undo_late_effect
from stepward.domain.task.worst_case import attempts, waits
from stepward.domain.workflow.effects import Item

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep

AGAIN_AFTER = 8
"""An attempt that needs more time is asked for again after this part of its complete-within."""


def deadline(change: TaskChange, step: PlannedStep) -> int:
    """When the attempt has to be answered."""
    return change.now + step.complete_within


def begin(change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
    """Ask its agent."""
    change.messages.extend(asks(change, step, record))


def asks(change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
    """The request of the running attempt."""
    return [_request(change, step)]


def _request(change: TaskChange, step: PlannedStep) -> StepRequest:
    record = change.steps[step.name]
    executor = step.executor(record.policy)
    complete_by = record.complete_by or change.now
    kind: Callable[..., StepRequest] = partial(CheckedRequest, check=executor.check) if executor.check else StepRequest
    if Item.read(step.name).at >= 0:
        kind = partial(ItemRequest, check=executor.check)
    return kind(
        order_id=change.task.order_id,
        step=step.name,
        agent=executor.agent,
        operation=executor.operation,
        attempt=record.attempt,
        token=record.token or "",
        fence=record.fence,
        idempotency_key=f"{change.task.order_id}/{executor.effect}",
        complete_by=complete_by,
        budget=complete_by - change.now,
        results=at_hand(change.results(step.name)),
    )


def late(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Free it for the next attempt; at the threshold, apply its next policy."""
    recover(change, step, record, check)


def unclaimed(change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim it."""
    remind(change, step, record, check)


def longest(step: PlannedStep, timing: Timing) -> int:
    """Every round of attempts, and the waits between them."""
    return attempts(step, timing) * step.rounds + waits(step)


def hears(change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
    """Take a reply of the step's agent."""
    match event:
        case Retry():
            pass
        case Reply():
            _answer(change, record, event)
        case Answered():
            hear_service(change, step, record, event)
        case _:
            raise not_taken(step, event)


def _answer(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    runs = _runs(record, reply)
    in_time = runs and _is_in_time(record, change.now)
    match reply.outcome:
        case Outcome.NOT_UNDERSTOOD:
            if runs:
                not_understood(change, record, reply.error)
        case Outcome.FAILING if in_time:  # it goes on
            change.steps[record.name] = replace(record, raised=(reply.error or "an error")[:LONGEST_NOTE])
        case Outcome.WAITING if in_time and not record.raised:
            _ask_again(change, record, reply)
        case Outcome.FAILING | Outcome.WAITING:
            _log_late(change, record, reply)
        case _:
            _reply(change, record, reply)


def _ask_again(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Ask once more for an attempt that others hold up. If its agent has no queue nobody can make it: uncounted."""
    agent = change.plan.by_name[record.name].executor(record.policy).agent
    if agent in change.absent:
        not_understood(change, record, without_queue(agent))
    else:
        _extend(change, record, reply)


def _extend(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """Move the running attempt's complete-by past the one that the agent was asked with, and ask for it again.

    If it was moved before, the request alone is repeated: the first one may be lost.
    """
    planned = change.plan.by_name[record.name]
    within = planned.complete_within
    if record.complete_by == reply.complete_by < change.now + within:
        change.steps[record.name] = replace(record, complete_by=change.now + within)
        change.log(HistoryKind.EXTENDED, record.name, record.attempt, note=reply.error)
    change.messages.append(replace(_request(change, planned), delay=within // AGAIN_AFTER))


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
    return record is not None and _runs(record, request) and _is_in_time(record, now)


def is_claimed_by(record: StepRecord, claim: Reply | StepRequest) -> bool:
    """Whether the step's newest attempt is the one that `claim` asks for, or answers."""
    return record.attempt == claim.attempt and record.token == claim.token


def _runs(record: StepRecord, claim: Reply | StepRequest) -> bool:
    return record.runs and is_claimed_by(record, claim)


def _is_in_time(record: StepRecord, now: int) -> bool:
    return now <= (record.complete_by or 0)


def _accept(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    if reply.outcome is Outcome.LATER:
        hand_over(change, record)
    elif reply.outcome is Outcome.PERMANENT:
        refused(change, record, reply.error or "the agent gave no reason", reply.token)
    else:
        complete(change, record, reply.result, reply.token, reply.size)
