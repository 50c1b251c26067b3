"""What happens at a threshold: the step's attempts are used up, and its next policy applies."""

from __future__ import annotations

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import claim_ready, never_asked, request_claim
from stepward.domain.task.record import StepRecord
from stepward.domain.task.undo import begin_undo, no_return, plan_undo_of
from stepward.domain.workflow.plan import Exhausted, PlannedStep, Policy


def exhaust(change: TaskChange, planned: PlannedStep, record: StepRecord, reason: str, overdue: int = 0) -> None:
    """Apply the step's next policy."""
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
        case _:
            change.fail(record, reason, overdue)


def _wait(change: TaskChange, record: StepRecord, policy: Policy, overdue: int) -> None:
    freed = replace(record, rounds=record.rounds + 1, failure_count=0).freed()
    note = f"waits for {policy.wait // 1000} s, round {freed.rounds} of {policy.rounds}"
    change.log(HistoryKind.WAITING, record.name, record.attempt, record.locked_by or "", note, overdue)
    request_claim(change, freed, policy.wait)


def _fall_back(change: TaskChange, record: StepRecord, policy: Policy, reason: str, overdue: int) -> None:
    """Undo what the step's executor did, or may have done, before another takes over."""
    if not never_asked(record):
        plan_undo_of(change, record)
    taken = replace(record.supplied(), policy=record.policy + 1, rounds=0, failure_count=0, token=None)
    change.steps[record.name] = taken.freed()
    note = f"{reason}; {policy.agent} takes over"
    change.log(HistoryKind.FELL_BACK, record.name, record.attempt, record.locked_by or "", note, overdue)
    claim_ready(change, "fallback")
