"""What the Supervisor makes of a call that ran past complete-by: another attempt, a wait, or its next policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepward.domain.backoff import backoff
from stepward.domain.coordination.outlook import NO_QUEUE, NO_REQUESTS
from stepward.domain.errors import Misconfigured
from stepward.domain.history import HistoryKind
from stepward.domain.steps.threshold import exhaust
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import request_claim
from stepward.domain.task.lacking import no_queue
from stepward.domain.task.record import SERVICE, ProcessState, StepRecord
from stepward.domain.workflow.plan import Exhausted, PlannedStep

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck

AT_FAULT = "the code or a setting is at fault"
UNCOUNTED_PER_THRESHOLD = 10
IT_RAISED = "it raised"
"""So the note of an attempt begins whose agent reported what its operation raised."""


def recover(change: TaskChange, planned: PlannedStep, record: StepRecord, event: DeadlineCheck) -> None:
    """Free a step whose attempt ran past complete-by; at the threshold, apply its next policy.

    Nobody can have made the attempt if it is overdue for as long as a platform outage, or its agent has a backlog:
    such failures are uncounted, up to a bound. So are all failures while the agent is unsettled. While the agent
    takes no requests, the step waits or goes to its fallback. A defect of the code or a setting is nobody's failure.
    """
    if record.locked_by == SERVICE:
        _unanswered(change, planned, record)
        return
    executor = planned.executor(record.policy)
    agent, overdue = executor.agent, change.overdue(record)
    if agent in event.unavailable | change.absent:
        stand_by(change, planned, record, overdue, event)
        return
    if record.untried == record.attempt:
        _spare(change, record, record.lacks, overdue)
        return
    record = record.supplied()
    if (agent, executor.operation) in event.defective or _met_wrong_setting(record):
        _spare(change, record, f"{_why(record, overdue)}; {AT_FAULT}", overdue)
        return
    untried = overdue > change.timing.outage_after or agent in event.backlogged
    lenient = record.attempt - record.failure_count <= UNCOUNTED_PER_THRESHOLD * planned.threshold
    uncounted = agent in event.unsettled or (untried and lenient)
    counted = replace(record, failure_count=record.failure_count + (not uncounted))
    if counted.failure_count >= planned.threshold:
        raised = f"; it raised {record.raised}" if record.raised else ""
        reason = f"no answer within complete-by, {counted.failure_count} of {planned.threshold} times{raised}"
        exhaust(change, planned, counted, reason, overdue)
        return
    kind = HistoryKind.UNCOUNTED if uncounted else HistoryKind.RECOVERED
    change.log(kind, record.name, record.attempt, record.locked_by or "", _why(record, overdue), overdue)
    request_claim(change, counted.freed(), backoff(counted.failure_count, _spread(record)))


def _unanswered(change: TaskChange, planned: PlannedStep, record: StepRecord) -> None:
    """Free a step whose service took it over and did not answer in time, unless its answer waits for newer code."""
    overdue = change.overdue(record)
    if record.untried == record.attempt:  # its answer waits
        _spare(change, record, record.lacks, overdue)
        return
    failed = replace(record, failure_count=record.failure_count + 1)
    if failed.failure_count >= planned.threshold:
        times = f"{failed.failure_count} of {planned.threshold} times"
        exhaust(change, planned, failed, f"its service took it over and never answered, {times}", overdue)
        return
    change.log(HistoryKind.RECOVERED, record.name, record.attempt, SERVICE, "its service never answered", overdue)
    request_claim(change, failed.freed(), backoff(failed.failure_count, _spread(record)))


def _spare(change: TaskChange, record: StepRecord, why: str, overdue: int) -> None:
    """Have the step claimed again, uncounted in every way: as a failure, and towards the bound of claims."""
    change.fence_base += 1
    change.log(HistoryKind.UNCOUNTED, record.name, record.attempt, record.locked_by or "", why, overdue)
    request_claim(change, record.freed(), backoff(record.attempt - record.failure_count, _spread(record)))


def _met_wrong_setting(record: StepRecord) -> bool:
    return (record.raised or "").partition(":")[0] == Misconfigured.__name__


def _why(record: StepRecord, overdue: int) -> str:
    return f"{IT_RAISED} {record.raised}" if record.raised else f"no answer by complete-by, {overdue} ms ago"


def stand_by(change: TaskChange, planned: PlannedStep, record: StepRecord, overdue: int, event: DeadlineCheck) -> None:
    """Have the step wait for its agent, which takes no requests, or give it to its fallback."""
    agent = planned.executor(record.policy).agent
    note = NO_QUEUE if agent in change.absent else NO_REQUESTS
    if planned.next_policy(record.policy).kind is Exhausted.FALLBACK:
        exhaust(change, planned, record, note, overdue)
        return
    if record.process_state is ProcessState.PROCESSING:
        change.log(HistoryKind.UNCOUNTED, record.name, record.attempt, record.locked_by or "", note, overdue)
    freed = replace(record.freed(), complete_by=_looked_at_again(change, agent, event))
    change.steps[record.name] = no_queue(change, freed, agent) if agent in change.absent else freed


def _looked_at_again(change: TaskChange, agent: str, event: DeadlineCheck) -> int:
    """When a step that stands by is due: soon, or when its agent's breaker lets a request through."""
    return max(change.now + change.timing.claim_within, event.until.get(agent, 0))


def remind(change: TaskChange, planned: PlannedStep, record: StepRecord, event: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim a step; no agent had it, so no failure is counted."""
    agent = planned.executor(record.policy).agent
    if agent in change.absent:
        stand_by(change, planned, record, 0, event)
        return
    if record.attempt and agent in event.unavailable:
        change.steps[record.name] = replace(record, complete_by=_looked_at_again(change, agent, event))
        return
    overdue = change.now - (record.complete_by or change.task.due or change.now)
    if record.not_before is None or record.not_before + change.timing.claim_within <= change.now:
        change.log(HistoryKind.REMINDED, record.name, record.attempt, note="nobody had claimed it", value=overdue)
    request_claim(change, record)


def _spread(record: StepRecord) -> float:
    """A number from 0 to 1, different for each attempt, so that steps that failed together do not return together."""
    token = record.token or "0"
    return int(token, 16) / float(16 ** len(token))
