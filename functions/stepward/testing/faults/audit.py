"""The invariants of one write of a task, each as a function that names what is broken, and whether a notice is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stepward.domain.history import OVERDUE, HistoryKind
from stepward.domain.messages import Callback, Notice, Outcome, Reply, Resubmit, Retry, Status
from stepward.domain.steps.overdue import UNCOUNTED_PER_THRESHOLD
from stepward.domain.task.record import SERVICE, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.timing import Timing
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, forward_name
from stepward.testing.faults.record import Write
from stepward.testing.faults.waits import is_condition, later, times_out, waited, waiting

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED, SKIPPED = ProcessState
UNMADE = (Outcome.NOT_UNDERSTOOD, Outcome.WAITING)
"""What an agent says of an attempt that nobody made."""
REACHED = {
    Status.COMPLETED: ProcessState.PROCESSED,
    Status.FAILED: ProcessState.ERROR,
    Status.UNDOING: ProcessState.UNDOING,
    Status.UNDONE: ProcessState.UNDONE,
    Status.UNDO_FAILED: ProcessState.UNDO_FAILED,
}
STALE_FENCE = "stale fence"
BURIED = "it was undone before it was done"
"""Why a service refuses what is too late."""


def held_wrongly(plan: Plan, write: Write) -> Iterator[str]:
    """I2, of one write; of a wait, I11, and of a step that is skipped, I12."""
    if write.after.revision != write.before.revision + 1:
        yield f"revision {write.before.revision} was replaced by {write.after.revision}"
    for before, after in changes(write):
        if (after.process_state is PROCESSING) != (after.locked_by is not None):
            yield f"{after} is held by {after.locked_by}"
        allowed = (_is_claim, _is_end, _is_late, _is_note, _is_report, _is_extended)
        planned = plan.by_name[after.name]
        if (planned.when and is_condition(write, before, after)) or (
            planned.answer_within and later(write, before, after)
        ):
            continue
        fits = (
            any(each(write, before, after) for each in allowed)
            if planned.agent
            else waited(planned, write, before, after)
        )
        if not fits:
            yield f"{before} became {after} by {write.cause}"


def claimed_out_of_turn(plan: Plan, write: Write) -> Iterator[str]:
    """I3, of one write."""
    for before, after in changes(write):
        if after.attempt == before.attempt or after.token is None:
            continue
        waits_for = _waits_for(plan, write.after, after.name)
        if states := {write.after.steps[name].process_state for name in waits_for} - {PROCESSED, SKIPPED}:
            yield f"{after.name} was claimed while {waits_for} were {states}"
        ended_at_once = after.process_state in (ERROR, STOPPED)
        if write.after.paused or (not ended_at_once and any(_failed_before(write, each) for each in write.after.steps)):
            yield f"{after.name} was claimed beside a step in Error, or in a pause"
        undoing = write.before.undoing or (write.after.undoing and after.process_state is not PROCESSED)
        if undoing and not after.is_compensation and not ended_at_once:
            yield f"{after.name} was claimed after the undo had begun"
        limit = write.after.limit(plan) if write.after.time_limit is TimeLimit.HOLDS else None
        if limit is not None and limit <= (after.started_at or 0) and not write.after.undoing:
            yield f"{after.name} was claimed past the order's complete-by, {limit}"


def _failed_before(write: Write, name: str) -> bool:
    """Whether a step is in Error that the same write did not claim, as it does a signal that was refused early."""
    before, after = write.before.steps.get(name), write.after.steps[name]
    return after.process_state is ERROR and (before is None or before.attempt == after.attempt)


def listed_late(plan: Plan, task: Task, timing: Timing) -> Iterator[str]:
    """I9, of one task; what still waits for other steps waits for no moment."""
    moments = {name: record for name, record in task.steps.items() if not _waits_for_others(plan, task, record)}
    limits = waiting(replace(task, steps=moments))
    if task.process_state is PENDING and not limits and not task.paused:
        limits = [task.created_at + timing.claim_within]
    limits += times_out(plan, task)
    if limits and (task.due is None or task.due > min(limits)):
        yield f"{task.order_id} is due at {task.due} and waits until {min(limits)}"
    if task.process_state in (PROCESSING, UNDOING) and not limits and not task.paused:
        yield f"{task.order_id} is under way and waits for nothing"


def counted_wrongly(plan: Plan, write: Write, timing: Timing, *, trouble: bool) -> Iterator[str]:
    """I5, of one write; `trouble` says that agents had a backlog or a breaker, which leaves failures uncounted."""
    yield from _timed_out_wrongly(plan, write)
    for before, after in changes(write):
        if not plan.by_name[after.name].agent:
            continue  # a wait makes no attempts
        threshold = plan.by_name[after.name].threshold
        ends = after.process_state in (ERROR, STOPPED) or isinstance(write.cause, Callback)
        if after.failure_count > threshold or (after.failure_count == threshold and not ends):
            yield f"{after} goes on though its threshold is {threshold}"
        if isinstance(write.cause, Resubmit):
            continue
        taken = (after.policy, after.rounds) != (before.policy, before.rounds)
        counted = after.failure_count - before.failure_count + (threshold if taken and not ends else 0)
        if counted != _failed(write, before, after, threshold, timing, trouble=trouble) and not _falls_back(
            write, after
        ):
            yield f"{before} became {after}: {counted} failures more"
        if (after.policy, after.rounds) < (before.policy, before.rounds):
            yield f"{before} became {after}: its policies begin anew"


def _timed_out_wrongly(plan: Plan, write: Write) -> Iterator[str]:
    """S24: the policy of an order's complete-by applies once, by a Supervisor, and if there is something to stop."""
    before, after = write.before, write.after
    if after.time_limit is TimeLimit.PASSED is not before.time_limit:
        at = next(entry.at for entry in reversed(after.history) if entry.kind is HistoryKind.TIMED_OUT)
        if write.cause is not None or not any(limit <= at for limit in times_out(plan, before)):
            yield f"the policy of {before.limit(plan)} was applied at {at} to {before.process_state} by {write.cause}"
        if not (after.undoing or after.process_state is ERROR):
            yield f"the complete-by passed, and the order is {after.process_state}"


def is_true(notice: Notice, task: Task | None) -> bool:
    """Whether the notice says what the task was at that revision."""
    if notice.status is Status.RECEIVED:
        return notice.revision == 1 or task is not None
    if task is None:
        return False
    if notice.status is Status.STEP_COMPLETED:
        return task.steps[notice.step].process_state is ProcessState.PROCESSED
    return task.process_state is REACHED[notice.status]


def freed(write: Write) -> Iterator[tuple[str, int]]:
    """The attempts, as step and number, that a Supervisor ends with this write."""
    for before, after in changes(write):
        ended = after.process_state not in (PROCESSING, STOPPED)
        asked = before.process_state is PROCESSING and before.locked_by != SERVICE
        if write.cause is None and ended and asked:
            yield before.name, before.attempt


def record_of(effect: str) -> str:
    """The name of the step record whose attempts have this key."""
    return effect if effect.endswith(UNDO_SUFFIX) else forward_name(effect)


def changes(write: Write) -> Iterator[tuple[StepRecord, StepRecord]]:
    """The records that differ, before and after; one that was not there before had never been tried."""
    for name, after in write.after.steps.items():
        before = write.before.steps.get(name) or StepRecord(after.order_id, name)
        if before != after:
            yield before, after


def _waits_for(plan: Plan, task: Task, name: str) -> list[str]:
    """What has to be done before: predecessors and their own earlier undo; for an undo, that of what came after."""
    undos = [other for other, record in task.steps.items() if record.is_compensation]
    if not name.endswith(UNDO_SUFFIX):
        return [*plan.by_name[name].after, *(other for other in undos if forward_name(other) == name)]
    return [other for other in undos if task.undoing and plan.undone_after(name, other)]


def _waits_for_others(plan: Plan, task: Task, record: StepRecord) -> bool:
    states = {task.steps[name].process_state for name in _waits_for(plan, task, record.name)}
    return record.process_state is PENDING and bool(states - {PROCESSED, SKIPPED})


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
    within = isinstance(cause, Retry) and cause.step == Item.read(before.name).step
    meant = meant or within or (isinstance(cause, Retry) and _is_over(write, cause.step))
    return free and taken and higher and meant and after.token != before.token


def _is_over(write: Write, name: str) -> bool:
    """Whether the write ended this step: others follow it, or the undo that its refusal began."""
    done = (PROCESSED, SKIPPED, STOPPED)
    return write.after.steps[name].process_state in done and write.before.steps[name].process_state not in done


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
    """Whether this is the answer of an attempt that the undo had fenced: its result is stored."""
    stopped = before.process_state is STOPPED is after.process_state
    return stopped and isinstance(write.cause, Reply) and before.token == write.cause.token == after.token


def _is_note(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether it is only noted what the step lacks, by its own attempt, or that an operator heard of that."""
    cause, noted = write.cause, replace(before, lacks=after.lacks, untried=after.untried, alert_by=after.alert_by)
    gated = after.lacks.startswith("the Scheduler cannot read")
    ours = isinstance(cause, Reply) and cause.token == before.token and (gated or cause.outcome in UNMADE)
    ours = ours or (isinstance(cause, Callback) and gated)
    return noted == after and (ours or (before.lacks, before.untried) == (after.lacks, after.untried))


def _is_report(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether the holder says what its operation raised, and goes on."""
    cause = write.cause
    failing = isinstance(cause, Reply) and cause.outcome is Outcome.FAILING and cause.token == before.token
    return failing and before.process_state is PROCESSING and after == replace(before, raised=after.raised)


def _is_extended(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether the holder, which its agent's rate holds up, gets more time, once for each request."""
    cause = write.cause
    waits = isinstance(cause, Reply) and cause.outcome is Outcome.WAITING and cause.token == before.token
    moved = before.complete_by == cause.complete_by < (after.complete_by or 0) if isinstance(cause, Reply) else False
    return waits and moved and after == replace(before, complete_by=after.complete_by)


def _undone_too_early(write: Write, compensation: StepRecord) -> bool:
    cause = write.cause
    if isinstance(cause, Callback) and compensation.is_compensation:
        return not cause.error and write.before.steps[forward_name(compensation.name)].process_state is STOPPED
    if not isinstance(cause, Reply) or cause.outcome is not Outcome.OK or not compensation.is_compensation:
        return False
    forward = write.before.steps[cause.step]
    ours = forward.process_state is STOPPED and forward.token == cause.token
    return ours and cause.step == forward_name(compensation.name)


def _falls_back(write: Write, after: StepRecord) -> bool:
    """Whether the step was given to its fallback since its agent takes no requests, however many had failed."""
    takes_none = ("takes no requests", "has no queue")
    return any(
        entry.kind is HistoryKind.FELL_BACK and entry.step == after.name and any(map(entry.note.count, takes_none))
        for entry in write.after.history[len(write.before.history) - 20 :]
    )


def _failed(
    write: Write, before: StepRecord, after: StepRecord, threshold: int, timing: Timing, *, trouble: bool
) -> int:
    """1 if this change ended an attempt that ran past complete-by, unless it is uncounted; that has an end."""
    if write.cause is not None or before.process_state is not PROCESSING or after.process_state is PROCESSING:
        return 0
    entries = [it for it in write.after.history if (it.step, it.attempt) == (after.name, after.attempt)]
    if after.process_state is STOPPED:
        own = (f"{after.name}: no answer", f"{after.name}: its service took")
        counts = (HistoryKind.FAILED, HistoryKind.RECOVERED)  # and another step began the undo
        return int(write.after.undoing.startswith(own) or any(entry.kind in counts for entry in entries))
    if before.locked_by == SERVICE:
        return int(before.untried != before.attempt)  # the service had all of answer_within, whatever was out
    entry = next(entry for entry in reversed(entries) if OVERDUE in entry.kind.marks)
    lenient = before.attempt - before.failure_count <= UNCOUNTED_PER_THRESHOLD * threshold
    uncounted = entry.kind is HistoryKind.UNCOUNTED and (trouble or before.untried == before.attempt or after.lacks)
    return 0 if uncounted or (entry.value > timing.outage_after and lenient) else 1
