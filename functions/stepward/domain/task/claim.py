"""Claims: which steps are ready, and the lock that gives one attempt of a step to one instance of the Scheduler."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from stepward.domain.errors import Untellable, shortened
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Retry, StepRequest
from stepward.domain.replace import replace
from stepward.domain.task.change import LONGEST_NOTE, Decision, TaskChange
from stepward.domain.task.kinds import go_on, item_of, kind_of
from stepward.domain.task.lacking import no_queue
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, forward_name
from stepward.domain.workflow.values import MISSING

CLAIMS_PER_THRESHOLD = 10


def ready(change: TaskChange) -> Iterator[PlannedStep]:
    """The Pending steps that wait for no other step, those in backoff included; each is asked when its turn comes."""
    for name in () if change.halted else tuple(change.steps):
        pending = change.steps[name].process_state is ProcessState.PENDING
        if pending and all(map(change.is_done, waits_for(change, name))):
            yield change.plan.by_name[name]


def waits_for(change: TaskChange, name: str) -> Iterator[str]:
    """The records that must be Processed first: the step's predecessors, and the undo of an earlier executor."""
    if change.steps[name].is_compensation:
        yield from _undo_waits_for(change, name)
    else:
        yield from change.plan.by_name[name].after
        yield from (other for other in change.compensations() if forward_name(other) == name)


def _undo_waits_for(change: TaskChange, compensation: str) -> Iterator[str]:
    """The compensations of the steps that depended on its step; none before a fallback, which undoes one step only."""
    if change.undoing:
        name, comes_after = forward_name(compensation), change.plan.undone_after
        yield from (other for other in change.compensations() if comes_after(name, forward_name(other)))


def claim_ready(change: TaskChange, causation_id: str) -> None:
    """Claim every ready step whose backoff is over; the Supervisor has the Scheduler do it.

    A step that ends with its claim lets others follow: one that is skipped, or a timer whose instant has passed. An
    each asks the children again that it did not ask while the task was halted.
    """
    for planned in ready(change):
        record = change.steps[planned.name]
        if (record.not_before or 0) > change.now or change.halted:
            continue
        if change.claims:
            claim(change, planned, causation_id)
        elif record.complete_by is None:
            request_claim(change, record)
    for record in () if change.halted else tuple(change.steps.values()):
        if record.items and record.runs and record.complete_by is None:
            go_on(change, record.name, causation_id)


def follow(change: TaskChange, name: str, causation_id: str) -> None:
    """Claim what waited for this step, which is done."""
    if (item := Item.read(name)).at >= 0:
        go_on(change, item.step, causation_id)
    claim_ready(change, causation_id)


def claim(change: TaskChange, planned: PlannedStep, causation_id: str) -> None:
    """Lock the step for one attempt and begin it; past the task's bound of claims, end it in Error.

    A step whose condition does not hold is skipped. A step whose agent has no queue, and no fallback either, is not
    claimed; it waits for that. The condition is asked before the first attempt only, so no later one changes its mind.
    """
    record = change.steps[planned.name]
    if planned.when and not record.attempt and not _applies(change, planned, record, causation_id):
        return
    record = _by_whom(change, planned, record)
    if (agent := planned.executor(record.policy).agent) in change.absent:
        change.steps[planned.name] = no_queue(change, record, agent)
        return
    record = record if record.untried else record.supplied()
    expected = sum(change.plan.by_name[name].threshold * change.plan.by_name[name].rounds for name in change.steps)
    if change.fence - change.fence_base >= CLAIMS_PER_THRESHOLD * expected:
        change.fail(record, "the task was claimed too often; something drives it in a circle")
        return
    kind = kind_of(planned.kind)
    try:
        deadline = kind.deadline(change, planned)
    except Untellable as error:
        change.fail(replace(record, attempt=record.attempt + 1), str(error))
        return
    change.fence += 1
    attempt, change.cause = record.attempt + 1, causation_id
    change.steps[planned.name] = replace(
        record,
        process_state=ProcessState.PROCESSING,
        locked_by=change.by,
        complete_by=deadline,
        attempt=attempt,
        token=claim_token(change.task, causation_id, planned.name, attempt),
        fence=change.fence,
        started_at=change.now,
        not_before=None,
        raised=None,
    )
    change.log(HistoryKind.CLAIMED, planned.name, attempt)
    kind.begin(change, planned, change.steps[planned.name])


def _applies(change: TaskChange, planned: PlannedStep, record: StepRecord, causation_id: str) -> bool:
    """Whether the step's condition holds. If not, the step is skipped; if that cannot be told, it ends in Error."""
    from stepward.domain.workflow.conditions import holds, said, said_not, why_unread

    item = item_of(change, planned) if Item.read(planned.name).at >= 0 else MISSING
    results = change.results(planned.name)
    match holds(planned.when, change.order or {}, results, item):
        case None:
            asked = replace(record, attempt=record.attempt + 1)
            why = f"; {unread}" if (unread := why_unread(planned.when, results)) else ""
            why += "; a resubmission runs the step"
            change.fail(asked, shortened(f"cannot tell whether {said(planned.when)}", LONGEST_NOTE - len(why)) + why)
            return False
        case False:
            change.steps[record.name] = replace(
                record.supplied(), process_state=ProcessState.SKIPPED, complete_by=None, ended_at=change.now
            )
            change.log(HistoryKind.STEP_SKIPPED, record.name, note=said_not(planned.when))
            follow(change, record.name, causation_id)
            log_if_processed(change)
            return False
    return True


def log_if_processed(change: TaskChange) -> None:
    """Log the end of a task once every step is done, once."""
    ended = all(map(change.is_done, change.steps)) and not change.undoing
    if ended and not any(entry.kind is HistoryKind.PROCESSED for entry in change.history):
        change.log(HistoryKind.PROCESSED, value=change.now - change.task.created_at)


def in_question(decision: Decision, before: Task, plan: Plan) -> frozenset[str]:
    """The agents that a Scheduler has to know more of, since the decision claims a step that has a fallback."""
    agents: set[str] = set()
    for message in decision.messages:
        if isinstance(message, StepRequest) and never_asked(before.steps.get(message.step)):
            planned, policy = plan.by_name[message.step], decision.task.steps[message.step].policy
            fallback = planned.next_policy(policy)
            agents |= {message.agent, fallback.agent} if fallback.kind is Exhausted.FALLBACK else set()
    return frozenset(agents)


def never_asked(record: StepRecord | None) -> bool:
    """Whether nobody was asked for the step yet, or nobody since its fallback took over."""
    return record is None or record.token is None


def _by_whom(change: TaskChange, planned: PlannedStep, record: StepRecord) -> StepRecord:
    """The step, given to its fallback if its agent is unavailable or full, and the fallback's is not.

    That is for a step that its agent was never asked for, so there is nothing to undo. Otherwise the fallback takes
    over when the step is overdue, and after the undo.
    """
    within = planned.complete_within
    why = change.outlook.refusal(planned.executor(record.policy), within)
    if not why or planned.next_policy(record.policy).kind is not Exhausted.FALLBACK or not never_asked(record):
        return record
    fallback = planned.executor(record.policy + 1)
    if change.outlook.refusal(fallback, within):
        return record
    note = f"{why}; {fallback.agent} takes over"
    change.log(HistoryKind.FELL_BACK, record.name, record.attempt, note=note)
    return replace(record, policy=record.policy + 1, rounds=0, failure_count=0)


def claim_token(task: Task, causation_id: str, step: str, attempt: int) -> str:
    """The token of a claim. It derives from what caused the claim, so a redelivered message recognises its own claim.

    The time of submission is part of it, so that an answer to an earlier life of the same order id is refused.
    """
    seed = f"{task.order_id}|{task.created_at}|{causation_id}|{step}|{attempt}"
    return hashlib.sha256(seed.encode()).hexdigest()[:12]


def request_claim(change: TaskChange, record: StepRecord, backoff: int = 0) -> None:
    """Have the Scheduler claim a Pending step after `backoff` ms; the step is due again in case that message is lost.

    A backoff that no queue can hold is left to the Supervisor, which finds the step due at its end.
    """
    begins = change.now + backoff
    too_long = backoff > change.timing.longest_delay
    complete_by = begins if too_long else begins + change.timing.claim_within
    not_before = begins if backoff else None
    change.steps[record.name] = replace(record, complete_by=complete_by, not_before=not_before)
    if not change.halted and not too_long:
        change.messages.append(Retry(change.task.order_id, record.name, record.attempt, backoff))


def resend(change: TaskChange, causation_id: str) -> None:
    """Repeat the request of every running step that the same message claimed before: the first one may be lost."""
    for name, record in change.steps.items() if change.claims else ():
        running = record.process_state is ProcessState.PROCESSING
        if running and record.token == claim_token(change.task, causation_id, name, record.attempt):
            planned = change.plan.by_name[name]
            change.messages.extend(kind_of(planned.kind).asks(change, planned, record))
