"""The whole policy of a task as one pure function: (task, event, now) -> (task, messages)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from stepward.domain.draft import Decision, Draft
from stepward.domain.errors import Rejected
from stepward.domain.facts import FactKind
from stepward.domain.messages import Outcome, Reply, Resubmit, Retry, Start
from stepward.domain.plan import Plan, PlannedStep
from stepward.domain.task import ProcessState, StepRecord, Task
from stepward.domain.timing import Timing

EXCUSES_PER_THRESHOLD = 10


@dataclass(frozen=True, slots=True)
class Look:
    """The Supervisor looks at a task that its index lists as due.

    `backlogged` names the agents whose requests wait in line; one that is still in line was never tried.
    """

    backlogged: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Told:
    """An operator has been told that this step ended in Error at `attempt`."""

    step: str
    attempt: int


Event = Start | Retry | Resubmit | Reply | Look | Told


def decide(task: Task, plan: Plan, event: Event, *, now: int, by: str, timing: Timing) -> Decision:
    """What `event` makes of `task` at `now` (epoch ms), acted on by the instance `by`.

    The task in the answer is the very same object if nothing is to be written. Raises Rejected if the event
    names a step that the task does not have.
    """
    draft = Draft(task, plan, now, by, timing)
    match event:
        case Start():
            _start(draft)
        case Retry():
            _retry(draft, _record(task, event.step), event)
        case Resubmit():
            _resubmit(draft, _record(task, event.step), event)
        case Reply():
            _reply(draft, _record(task, event.step), event)
        case Told():
            _told(draft, _record(task, event.step), event)
        case Look():
            _look(draft, event)
        case _:
            assert_never(event)
    return draft.decision(looked=isinstance(event, Look))


def _record(task: Task, step: str) -> StepRecord:
    if step not in task.steps:
        raise Rejected("step", f"{step!r} is not a step of this task")
    return task.steps[step]


def _start(draft: Draft) -> None:
    draft.resend("start")
    draft.claim_ready("start")


def _retry(draft: Draft, record: StepRecord, event: Retry) -> None:
    cause = f"retry {event.step} {event.attempt}"
    draft.resend(cause)
    planned = draft.plan.by_name[record.name]
    if record.attempt == event.attempt and planned in draft.ready():
        draft.claim(planned, cause)


def _resubmit(draft: Draft, record: StepRecord, event: Resubmit) -> None:
    cause = f"resubmit {event.step} {event.attempt}"
    if record.process_state is not ProcessState.ERROR or record.attempt != event.attempt:
        draft.resend(cause)
        note = f"nothing to resubmit: the step is {record.process_state} at attempt {record.attempt}"
        draft.tell(FactKind.REFUSED, record.name, event.attempt, event.who, note)
        return
    draft.fence_base = draft.fence
    draft.steps[record.name] = replace(
        record,
        process_state=ProcessState.PENDING,
        complete_by=draft.now + draft.timing.claim_within,
        failure_count=0,
        ended_at=None,
        error=None,
        alert_by=None,
    )
    draft.tell(FactKind.RESUBMITTED, record.name, record.attempt, event.who, event.why)
    draft.claim_ready(cause)


def _reply(draft: Draft, record: StepRecord, reply: Reply) -> None:
    ours = record.attempt == reply.attempt and record.token == reply.token
    in_time = draft.now <= (record.complete_by or 0)
    match record.process_state:
        case ProcessState.PROCESSING if ours and in_time:
            _accept(draft, record, reply)
        case ProcessState.PROCESSED if ours:
            draft.resend(reply.token)
        case ProcessState.ERROR if ours and reply.outcome is Outcome.PERMANENT:
            if record.alert_by is not None:
                draft.alert(record)
        case state:
            note = f"answered {reply.outcome} for attempt {reply.attempt}; the step is {state} at {record.attempt}"
            draft.tell(FactKind.LATE_REPLY, record.name, reply.attempt, note=note)


def _accept(draft: Draft, record: StepRecord, reply: Reply) -> None:
    if reply.outcome is Outcome.PERMANENT:
        draft.fail(record, reply.error or "the agent gave no reason")
        return
    draft.steps[record.name] = replace(
        record,
        process_state=ProcessState.PROCESSED,
        locked_by=None,
        complete_by=None,
        ended_at=draft.now,
        result=reply.result,
    )
    took = draft.now - (record.started_at or draft.now)
    draft.tell(FactKind.COMPLETED, record.name, record.attempt, record.locked_by or "", value=took)
    draft.claim_ready(reply.token)
    if all(step.process_state is ProcessState.PROCESSED for step in draft.steps.values()):
        draft.tell(FactKind.PROCESSED, value=draft.now - draft.task.created_at)


def _told(draft: Draft, record: StepRecord, event: Told) -> None:
    if record.alert_by is not None and record.attempt == event.attempt:
        draft.steps[record.name] = replace(record, alert_by=None)
        draft.tell(FactKind.ALERTED, record.name, record.attempt)


def _look(draft: Draft, event: Look) -> None:
    """Act on all that is overdue, by a clock set back by the margin that clocks may differ."""
    seen = draft.now - draft.timing.skew_margin
    waiting = list(draft.ready())
    for planned in draft.plan.steps:
        record = draft.steps[planned.name]
        if record.process_state is ProcessState.PROCESSING and (record.complete_by or 0) <= seen:
            _recover(draft, planned, record, event)
        elif planned in waiting and (record.complete_by or draft.task.due or 0) <= seen:
            _remind(draft, record)
        elif record.alert_by is not None and record.alert_by <= seen:
            draft.alert(record)


def _recover(draft: Draft, planned: PlannedStep, record: StepRecord, event: Look) -> None:
    """Free a step whose attempt ran past complete-by; at the threshold, end it in Error.

    A step that nobody looked at for very long was missed by the whole platform, and one whose agent has a
    backlog may never have been tried: both are excused, their failures uncounted, though not for ever.
    """
    overdue = draft.now - (record.complete_by or draft.now)
    untried = overdue > draft.timing.outage_after or planned.agent in event.backlogged
    excused = untried and record.attempt - record.failure_count <= EXCUSES_PER_THRESHOLD * planned.threshold
    counted = replace(record, failure_count=record.failure_count + (not excused))
    if counted.failure_count >= planned.threshold:
        reason = f"no answer within complete-by, {counted.failure_count} of {planned.threshold} times"
        draft.fail(counted, reason, overdue)
        return
    draft.steps[record.name] = replace(
        counted,
        process_state=ProcessState.PENDING,
        locked_by=None,
        complete_by=draft.now + draft.timing.claim_within,
    )
    kind = FactKind.EXCUSED if excused else FactKind.RECOVERED
    note = f"no answer by complete-by, {overdue} ms ago"
    draft.tell(kind, record.name, record.attempt, record.locked_by or "", note, overdue)
    if not draft.halted:
        draft.messages.append(Retry(draft.task.order_id, record.name, record.attempt))


def _remind(draft: Draft, record: StepRecord) -> None:
    """Ask the Scheduler again for a step that nobody has claimed; no agent had it, so no failure is counted."""
    overdue = draft.now - (record.complete_by or draft.task.due or draft.now)
    draft.steps[record.name] = replace(record, complete_by=draft.now + draft.timing.claim_within)
    draft.tell(FactKind.REMINDED, record.name, record.attempt, note="nobody had claimed it", value=overdue)
    draft.messages.append(Retry(draft.task.order_id, record.name, record.attempt))
