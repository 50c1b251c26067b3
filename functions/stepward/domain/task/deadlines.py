"""The Supervisor's look at a task: free what is overdue, remind of what nobody claimed, repeat untold alerts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stepward.domain.history import FactKind
from stepward.domain.task.backoff import rest
from stepward.domain.task.change import Draft
from stepward.domain.task.notices import standing
from stepward.domain.task.record import ProcessState, StepRecord
from stepward.domain.task.undo import exhaust, free
from stepward.domain.task.worst_case import overtime
from stepward.domain.workflow.plan import Exhausted, PlannedStep

EXCUSES_PER_THRESHOLD = 10


@dataclass(frozen=True, slots=True)
class Look:
    """The Supervisor looks at a task that its index lists as due.

    `backlogged` names the agents whose requests wait in line; one that is still in line was never tried.
    `unavailable` names those that take no requests now: their breaker is open, or an operator paused them.
    `unsettled` names those that took none a while ago, and may have put back what they were asked.
    """

    backlogged: frozenset[str] = frozenset()
    unavailable: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()


def look(draft: Draft, event: Look) -> None:
    """Act on all that is overdue, by a clock set back by the margin that clocks may differ."""
    seen = draft.now - draft.timing.skew_margin
    _tell_if_overtime(draft, seen)
    if draft.task.ended_at is not None:
        draft.messages.extend(standing(draft.task, draft.now))
    waiting = {planned.name for planned in draft.ready()}
    for name, record in list(draft.steps.items()):
        if draft.steps[name] is not record:
            continue
        planned = draft.plan.by_name[name]
        if record.process_state is ProcessState.PROCESSING and (record.complete_by or 0) <= seen:
            _recover(draft, planned, record, event)
        elif name in waiting and (record.complete_by or draft.task.due or 0) <= seen:
            _remind(draft, planned, record, event)
        elif record.alert_by is not None and record.alert_by <= seen:
            draft.alert(record)
            draft.messages.extend(standing(draft.task, draft.now))


def _tell_if_overtime(draft: Draft, seen: int) -> None:
    late = overtime(draft.task, draft.plan, draft.now, draft.timing)
    if late > 0 and draft.task.due is not None and draft.task.due <= seen:
        draft.tell(FactKind.OVERTIME, note="not finished within its own worst case", value=late)


def _recover(draft: Draft, planned: PlannedStep, record: StepRecord, event: Look) -> None:
    """Free a step whose attempt ran past complete-by; at the threshold, take its next policy.

    A step that nobody looked at for very long was missed by the whole platform, and one whose agent has a
    backlog may never have been tried: both are excused, their failures uncounted, though not for ever. While its
    agent takes no requests a step rests, or goes to its fallback; while the agent is not settled, it is excused.
    """
    agent = planned.executor(record.policy).agent
    overdue = draft.now - (record.complete_by or draft.now)
    if agent in event.unavailable:
        _stand_by(draft, planned, record, overdue)
        return
    untried = overdue > draft.timing.outage_after or agent in event.backlogged
    lenient = record.attempt - record.failure_count <= EXCUSES_PER_THRESHOLD * planned.threshold
    excused = agent in event.unsettled or (untried and lenient)
    counted = replace(record, failure_count=record.failure_count + (not excused))
    if counted.failure_count >= planned.threshold:
        reason = f"no answer within complete-by, {counted.failure_count} of {planned.threshold} times"
        exhaust(draft, planned, counted, reason, overdue)
        return
    kind = FactKind.EXCUSED if excused else FactKind.RECOVERED
    note = f"no answer by complete-by, {overdue} ms ago"
    draft.tell(kind, record.name, record.attempt, record.locked_by or "", note, overdue)
    draft.ask(free(counted), rest(counted.failure_count, _spread(record)))


def _stand_by(draft: Draft, planned: PlannedStep, record: StepRecord, overdue: int) -> None:
    if planned.next_policy(record.policy).kind is Exhausted.FALLBACK:
        exhaust(draft, planned, record, "its agent takes no requests", overdue)
        return
    note = "its agent takes no requests"
    draft.tell(FactKind.EXCUSED, record.name, record.attempt, record.locked_by or "", note, overdue)
    draft.steps[record.name] = replace(free(record), complete_by=draft.now + draft.timing.claim_within)


def _remind(draft: Draft, planned: PlannedStep, record: StepRecord, event: Look) -> None:
    """Ask the Scheduler again for a step that nobody has claimed; no agent had it, so no failure is counted."""
    if record.attempt and planned.executor(record.policy).agent in event.unavailable:
        draft.steps[record.name] = replace(record, complete_by=draft.now + draft.timing.claim_within)
        return
    overdue = draft.now - (record.complete_by or draft.task.due or draft.now)
    if record.not_before is None or record.not_before + draft.timing.claim_within <= draft.now:
        draft.tell(FactKind.REMINDED, record.name, record.attempt, note="nobody had claimed it", value=overdue)
    draft.ask(record)


def _spread(record: StepRecord) -> float:
    """A number from 0 to 1 that differs from attempt to attempt, so that what failed together does not return so."""
    token = record.token or "0"
    return int(token, 16) / float(16 ** len(token))
