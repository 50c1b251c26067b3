"""Undo, and what else is done when a step's attempts are used up."""

from __future__ import annotations

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Reply
from stepward.domain.task.change import LONGEST_NOTE, TaskChange
from stepward.domain.task.record import ProcessState, StepRecord, claim_token
from stepward.domain.workflow.plan import UNDO_SUFFIX, Exhausted, PlannedStep, Policy


def no_return(change: TaskChange) -> str:
    """The step after whose beginning the order only goes forward, if it has begun; else empty."""
    return next((s.name for s in change.plan.steps if s.point_of_no_return and change.steps[s.name].attempt), "")


def begin_undo(change: TaskChange, causation_id: str, why: str, who: str = "") -> None:
    """Fence what runs, drop what has not begun, and plan to undo all that happened or may have happened.

    While the task is paused none of it is begun.
    """
    change.undoing = (why or "no reason given")[:LONGEST_NOTE]
    change.tell(HistoryKind.UNDO_BEGUN, by=who, note=change.undoing)
    for record in [record for record in change.steps.values() if not record.is_compensation]:
        if record.process_state is not ProcessState.PROCESSED:
            change.steps[record.name] = replace(
                record,
                process_state=ProcessState.STOPPED,
                locked_by=None,
                complete_by=None,
                alert_by=None,
                not_before=None,
            )
        if record.attempt:
            plan_undo_of(change, record)
    change.go_on(causation_id)
    tell_if_undone(change)


def plan_undo_of(change: TaskChange, record: StepRecord) -> None:
    """Add the record that undoes what the step's present executor did, if it can be undone."""
    executor = change.plan.by_name[record.name].executor(record.policy)
    name = executor.effect + UNDO_SUFFIX
    if executor.undo and name not in change.steps:
        change.steps[name] = StepRecord(change.task.order_id, name)


def tell_if_undone(change: TaskChange) -> None:
    """Note the end of an undo, when all of it is done."""
    undone = all(change.steps[name].process_state is ProcessState.PROCESSED for name in change.compensations())
    if change.undoing and undone:
        change.tell(HistoryKind.UNDONE, note=change.undoing, value=change.now - change.task.created_at)


def undo_late_effect(change: TaskChange, record: StepRecord, reply: Reply) -> None:
    """A fenced attempt had its effect after all: undo it again, should its undo have come too early.

    An undo that is under way may have come too early as well; whatever it answers, another attempt follows. The same
    answer once more may tell of a second effect, at a service that forgets its keys: that is undone, too. Only while
    the undo runs that this very answer has asked for, it is taken for a repetition.
    """
    name = change.plan.by_name[record.name].executor(record.policy).effect + UNDO_SUFFIX
    undo = change.steps.get(name)
    if undo and undo.token == claim_token(change.task, reply.token, name, undo.attempt) and _runs(undo):
        change.resend(reply.token)
        change.tell(HistoryKind.LATE_REPLY, record.name, reply.attempt, note="its effect is being undone already")
        return
    change.tell(HistoryKind.LATE_EFFECT, record.name, reply.attempt, note="it answered ok after the undo had begun")
    change.steps[record.name] = replace(record, result=reply.result)
    if undo and (_runs(undo) or undo.process_state is ProcessState.PROCESSED):
        change.steps[name] = replace(free(undo), ended_at=None)
        change.go_on(reply.token)


def _runs(record: StepRecord) -> bool:
    return record.process_state is ProcessState.PROCESSING


def exhaust(change: TaskChange, planned: PlannedStep, record: StepRecord, reason: str, overdue: int = 0) -> None:
    """Take the step's next policy: its attempts are used up."""
    policy = planned.next_policy(record.policy)
    stuck = no_return(change)
    match policy.kind:
        case Exhausted.WAIT if record.rounds < policy.rounds:
            _wait(change, record, policy, overdue)
        case Exhausted.WAIT:
            exhaust(change, planned, replace(record, policy=record.policy + 1, rounds=0), reason, overdue)
        case Exhausted.FALLBACK:
            _fall_back(change, record, policy, reason, overdue)
        case Exhausted.UNDO if not stuck:
            change.steps[record.name] = record
            begin_undo(change, "exhausted", f"{record.name}: {reason}")
        case Exhausted.UNDO:
            change.fail(record, f"{reason}; it cannot be undone past {stuck}", overdue)
        case Exhausted.ALERT:
            change.fail(record, reason, overdue)


def _wait(change: TaskChange, record: StepRecord, policy: Policy, overdue: int) -> None:
    freed = free(replace(record, rounds=record.rounds + 1, failure_count=0))
    note = f"rests for {policy.wait // 1000} s, round {freed.rounds} of {policy.rounds}"
    change.tell(HistoryKind.WAITING, record.name, record.attempt, record.locked_by or "", note, overdue)
    change.ask(freed, policy.wait)


def _fall_back(change: TaskChange, record: StepRecord, policy: Policy, reason: str, overdue: int) -> None:
    """What the step's executor did, or may have done, is undone before another takes over."""
    plan_undo_of(change, record)
    taken = replace(record, policy=record.policy + 1, rounds=0, failure_count=0, token=None)
    change.steps[record.name] = free(taken)
    note = f"{reason}; {policy.agent} takes over"
    change.tell(HistoryKind.FELL_BACK, record.name, record.attempt, record.locked_by or "", note, overdue)
    change.go_on("fallback")


def free(record: StepRecord) -> StepRecord:
    """The step without its lock and limit, Pending again."""
    return replace(record, process_state=ProcessState.PENDING, locked_by=None, complete_by=None, not_before=None)
