"""The Supervisor's deadline check: frees what is overdue, reminds of what nobody claimed, repeats alerts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stepward.domain.backoff import backoff
from stepward.domain.errors import Misconfigured
from stepward.domain.history import HistoryKind
from stepward.domain.task.change import TaskChange
from stepward.domain.task.claim import ready, request_claim
from stepward.domain.task.lacking import no_queue
from stepward.domain.task.notices import status_notice
from stepward.domain.task.order_limit import check_limit
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.task.threshold import exhaust
from stepward.domain.task.worst_case import overtime
from stepward.domain.workflow.plan import Exhausted, PlannedStep

UNCOUNTED_PER_THRESHOLD = 10
IT_RAISED = "it raised"
"""So the note of an attempt begins whose agent reported what its operation raised."""


@dataclass(frozen=True, slots=True)
class DeadlineCheck:
    """The Supervisor checks a task that its index lists as due.

    `backlogged` agents have requests waiting in their queue, which nobody may have tried yet. `unavailable` ones
    take no requests now: their breaker is open, or an operator paused them. `unsettled` ones took none a while ago,
    and may have returned requests to their queue. `defective` names operations, each with its agent, of which the code
    or a setting is at fault, so that no order is to blame.
    """

    backlogged: frozenset[str] = frozenset()
    unavailable: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    defective: frozenset[tuple[str, str]] = frozenset()


def check_deadlines(change: TaskChange, event: DeadlineCheck) -> None:
    """Act on all that is overdue, by a clock set back by the skew margin."""
    seen = change.now - change.timing.skew_margin
    _log_overtime(change, seen)
    if change.task.ended_at is not None:
        change.messages.extend(status_notice(change.task, change.now))
    check_limit(change)
    waiting = {planned.name for planned in ready(change)}
    for name, record in list(change.steps.items()):
        if change.steps[name] is not record:
            continue
        planned = change.plan.by_name[name]
        if record.lacks and record.alert_by is not None and record.alert_by <= seen:
            change.alert(record)
            record = change.steps[name]  # noqa: PLW2901 - what it lacks is told whatever else is overdue
        if record.process_state is ProcessState.PROCESSING and (record.complete_by or 0) <= seen:
            _recover(change, planned, record, event)
        elif name in waiting and (record.complete_by or change.task.due or 0) <= seen:
            _remind(change, planned, record, event)
        elif record.alert_by is not None and record.alert_by <= seen:
            change.alert(record)
            change.messages.extend(status_notice(change.task, change.now))


def _log_overtime(change: TaskChange, seen: int) -> None:
    late = overtime(change.task, change.plan, change.now, change.timing)
    if late > 0 and change.task.due is not None and change.task.due <= seen:
        change.log(HistoryKind.OVERTIME, note="not finished within its own worst case", value=late)


def _recover(change: TaskChange, planned: PlannedStep, record: StepRecord, event: DeadlineCheck) -> None:
    """Free a step whose attempt ran past complete-by; at the threshold, apply its next policy.

    Nobody can have made the attempt if it is overdue for as long as a platform outage, or its agent has a backlog:
    such failures are uncounted, up to a bound. So are all failures while the agent is unsettled. While the agent
    takes no requests, the step waits or goes to its fallback. A defect of the code or a setting is nobody's failure.
    """
    executor = planned.executor(record.policy)
    agent, overdue = executor.agent, change.now - (record.complete_by or change.now)
    if agent in event.unavailable | change.absent:
        _stand_by(change, planned, record, overdue)
        return
    if record.untried == record.attempt:
        _spare(change, record, record.lacks, overdue)
        return
    record = record.supplied()
    if (agent, executor.operation) in event.defective or _met_wrong_setting(record):
        _spare(change, record, f"{_why(record, overdue)}; the code or a setting is at fault", overdue)
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


def _spare(change: TaskChange, record: StepRecord, why: str, overdue: int) -> None:
    """Have the step claimed again, uncounted in every way: as a failure, and towards the bound of claims."""
    change.fence_base += 1
    change.log(HistoryKind.UNCOUNTED, record.name, record.attempt, record.locked_by or "", why, overdue)
    request_claim(change, record.freed(), backoff(record.attempt - record.failure_count, _spread(record)))


def _met_wrong_setting(record: StepRecord) -> bool:
    return (record.raised or "").partition(":")[0] == Misconfigured.__name__


def _why(record: StepRecord, overdue: int) -> str:
    return f"{IT_RAISED} {record.raised}" if record.raised else f"no answer by complete-by, {overdue} ms ago"


def _stand_by(change: TaskChange, planned: PlannedStep, record: StepRecord, overdue: int) -> None:
    agent = planned.executor(record.policy).agent
    note = "its agent has no queue" if agent in change.absent else "its agent takes no requests"
    if planned.next_policy(record.policy).kind is Exhausted.FALLBACK:
        exhaust(change, planned, record, note, overdue)
        return
    if record.process_state is ProcessState.PROCESSING:
        change.log(HistoryKind.UNCOUNTED, record.name, record.attempt, record.locked_by or "", note, overdue)
    freed = replace(record.freed(), complete_by=change.now + change.timing.claim_within)
    change.steps[record.name] = no_queue(change, freed, agent) if agent in change.absent else freed


def _remind(change: TaskChange, planned: PlannedStep, record: StepRecord, event: DeadlineCheck) -> None:
    """Ask the Scheduler again to claim a step; no agent had it, so no failure is counted."""
    if planned.executor(record.policy).agent in change.absent:
        _stand_by(change, planned, record, 0)
        return
    if record.attempt and planned.executor(record.policy).agent in event.unavailable:
        change.steps[record.name] = replace(record, complete_by=change.now + change.timing.claim_within)
        return
    overdue = change.now - (record.complete_by or change.task.due or change.now)
    if record.not_before is None or record.not_before + change.timing.claim_within <= change.now:
        change.log(HistoryKind.REMINDED, record.name, record.attempt, note="nobody had claimed it", value=overdue)
    request_claim(change, record)


def _spread(record: StepRecord) -> float:
    """A number from 0 to 1, different for each attempt, so that steps that failed together do not return together."""
    token = record.token or "0"
    return int(token, 16) / float(16 ** len(token))
