"""The invariants of one write of a task, each as a function that names what is broken, and whether a notice is true."""

from collections.abc import Iterator
from dataclasses import replace

from stepward.domain.facts import OVERDUE, FactKind
from stepward.domain.looking import EXCUSES_PER_THRESHOLD
from stepward.domain.messages import Notice, Outcome, Reply, Resubmit, Retry, Status
from stepward.domain.plan import UNDO_SUFFIX, Plan, forward_name
from stepward.domain.task import ProcessState, StepRecord, Task
from tests.factories import waiting
from tests.simulation.deployment import TIMING
from tests.simulation.faults import Write

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED = ProcessState
REACHED = {
    Status.COMPLETED: PROCESSED,
    Status.FAILED: ERROR,
    Status.UNDOING: UNDOING,
    Status.UNDONE: UNDONE,
    Status.UNDO_FAILED: UNDO_FAILED,
}


def held_wrongly(write: Write) -> Iterator[str]:
    """I2, of one write."""
    if write.after.revision != write.before.revision + 1:
        yield f"revision {write.before.revision} was replaced by {write.after.revision}"
    for before, after in changes(write):
        if (after.process_state is PROCESSING) != (after.locked_by is not None):
            yield f"{after} is held by {after.locked_by}"
        if not (_is_claim(write, before, after) or _is_end(write, before, after) or _is_late(write, before, after)):
            yield f"{before} became {after} by {write.cause}"


def claimed_out_of_turn(plan: Plan, write: Write) -> Iterator[str]:
    """I3, of one write."""
    for before, after in changes(write):
        if after.attempt == before.attempt:
            continue
        waits_for = _waits_for(plan, write.after, after.name)
        states = {write.after.steps[name].process_state for name in waits_for}
        if states - {PROCESSED}:
            yield f"{after.name} was claimed while {waits_for} were {states}"
        if write.after.paused or write.after.process_state in (ERROR, UNDO_FAILED):
            yield f"{after.name} was claimed beside a step in Error, or in a pause"
        if write.after.undoing and not after.is_compensation:
            yield f"{after.name} was claimed after the undo had begun"


def listed_late(plan: Plan, task: Task) -> Iterator[str]:
    """I9, of one task; what still waits for other steps waits for no moment."""
    moments = {name: record for name, record in task.steps.items() if not _waits_for_others(plan, task, record)}
    limits = waiting(replace(task, steps=moments))
    if task.process_state is PENDING and not limits and not task.paused:
        limits = [task.created_at + TIMING.claim_within]
    if limits and (task.due is None or task.due > min(limits)):
        yield f"{task.order_id} is due at {task.due} and waits until {min(limits)}"
    if task.process_state in (PROCESSING, UNDOING) and not limits and not task.paused:
        yield f"{task.order_id} is under way and waits for nothing"


def counted_wrongly(plan: Plan, write: Write, *, trouble: bool) -> Iterator[str]:
    """I5, of one write; `trouble` says that agents had a backlog or a breaker, which excuses failures."""
    for before, after in changes(write):
        threshold = plan.by_name[after.name].threshold
        ends = after.process_state in (ERROR, STOPPED)
        if after.failure_count > threshold or (after.failure_count == threshold and not ends):
            yield f"{after} goes on though its threshold is {threshold}"
        if isinstance(write.cause, Resubmit):
            continue
        taken = (after.policy, after.rounds) != (before.policy, before.rounds)
        counted = after.failure_count - before.failure_count + (threshold if taken and not ends else 0)
        if counted != _failed(write, before, after, threshold, trouble=trouble) and not _stands_by(write, after):
            yield f"{before} became {after}: {counted} failures more"
        if (after.policy, after.rounds) < (before.policy, before.rounds):
            yield f"{before} became {after}: its policies begin anew"


def changes(write: Write) -> Iterator[tuple[StepRecord, StepRecord]]:
    """The records that differ, before and after; one that was not there before had never been tried."""
    for name, after in write.after.steps.items():
        before = write.before.steps.get(name) or StepRecord(after.order_id, name)
        if before != after:
            yield before, after


def record_of(slot: str) -> str:
    """The name of the step record whose attempts have this key."""
    return slot if slot.endswith(UNDO_SUFFIX) else forward_name(slot)


def is_true(notice: Notice, task: Task | None) -> bool:
    """Whether the notice tells what was reached with this revision of the task."""
    if notice.status is Status.RECEIVED:
        return notice.revision == 1 or task is not None
    if task is None:
        return False
    if notice.status is Status.STEP_COMPLETED:
        return task.steps[notice.step].process_state is PROCESSED
    return task.process_state is REACHED[notice.status]


def _waits_for(plan: Plan, task: Task, name: str) -> list[str]:
    """What has to be done before: predecessors and their own earlier undo; for an undo, that of what came after."""
    undos = [other for other, record in task.steps.items() if record.is_compensation]
    if not name.endswith(UNDO_SUFFIX):
        return [*plan.by_name[name].after, *(other for other in undos if forward_name(other) == name)]
    later = plan.dependents[forward_name(name)] if task.undoing else frozenset()
    return [other for other in undos if forward_name(other) in later]


def _waits_for_others(plan: Plan, task: Task, record: StepRecord) -> bool:
    states = {task.steps[name].process_state for name in _waits_for(plan, task, record.name)}
    return record.process_state is PENDING and bool(states - {PROCESSED})


def _is_claim(write: Write, before: StepRecord, after: StepRecord) -> bool:
    cause = write.cause
    asked_again = isinstance(cause, Resubmit) and (cause.step, cause.attempt) == (before.name, before.attempt)
    free = (
        before.process_state is PENDING
        or (before.process_state is ERROR and asked_again)
        or (before.process_state in (PROCESSED, PROCESSING) and _undone_too_early(write, before))
    )
    higher = write.before.fence < after.fence <= write.after.fence
    taken = after.process_state is PROCESSING and after.attempt == before.attempt + 1
    meant = not isinstance(cause, Retry) or (cause.step, cause.attempt) == (before.name, before.attempt)
    return free and taken and higher and meant and after.token != before.token


def _is_end(write: Write, before: StepRecord, after: StepRecord) -> bool:
    given_away = after.token is None and after.policy > before.policy
    same = after.attempt == before.attempt and (after.token == before.token or given_away)
    if after.process_state is PROCESSED:
        by_holder = isinstance(write.cause, Reply) and (write.cause.step, write.cause.attempt, write.cause.token) == (
            before.name,
            before.attempt,
            before.token,
        )
        in_time = (after.ended_at or 0) <= (before.complete_by or 0)
        return same and before.process_state is PROCESSING and by_holder and in_time
    free = PROCESSED is not before.process_state or _undone_too_early(write, before)
    return same and free and after.process_state is not PROCESSING


def _is_late(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """The answer of an attempt that the undo had fenced: its result is kept."""
    stopped = before.process_state is STOPPED is after.process_state
    return stopped and isinstance(write.cause, Reply) and before.token == write.cause.token == after.token


def _undone_too_early(write: Write, compensation: StepRecord) -> bool:
    cause = write.cause
    if not isinstance(cause, Reply) or cause.outcome is not Outcome.OK or not compensation.is_compensation:
        return False
    forward = write.before.steps[cause.step]
    ours = forward.process_state is STOPPED and forward.token == cause.token
    return ours and cause.step == forward_name(compensation.name)


def _stands_by(write: Write, after: StepRecord) -> bool:
    """Whether the step was given to its fallback since its agent takes no requests, however many had failed."""
    return any(
        fact.kind is FactKind.FELL_BACK and fact.step == after.name and "takes no requests" in fact.note
        for fact in write.after.history[len(write.before.history) - 20 :]
    )


def _failed(write: Write, before: StepRecord, after: StepRecord, threshold: int, *, trouble: bool) -> int:
    """1 if this change ended an attempt that ran past complete-by, unless it was excused; that is not done for ever."""
    if write.cause is not None or before.process_state is not PROCESSING or after.process_state is PROCESSING:
        return 0
    if after.process_state is STOPPED:
        return int(write.after.undoing.startswith(f"{after.name}: no answer"))
    told = (fact for fact in reversed(write.after.history) if (fact.step, fact.attempt) == (after.name, after.attempt))
    fact = next(fact for fact in told if fact.kind in OVERDUE)
    lenient = before.attempt - before.failure_count <= EXCUSES_PER_THRESHOLD * threshold
    excused = (fact.value > TIMING.outage_after and lenient) or (fact.kind is FactKind.EXCUSED and trouble)
    return 0 if excused else 1
