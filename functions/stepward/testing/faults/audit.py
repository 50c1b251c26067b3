"""The invariants of running forward, each as a function that names what is broken; all but I1 look at what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from stepward.domain.history import OVERDUE, HistoryKind
from stepward.domain.messages import Outcome, Reply, Resubmit, Retry
from stepward.domain.task.deadlines import UNCOUNTED_PER_THRESHOLD
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, forward_name
from stepward.testing.faults.record import Record, Write

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, UNDOING, UNDONE, UNDO_FAILED = ProcessState
STALE_FENCE = "stale fence"
BURIED = "it was undone before it was done"
"""Why a service refuses what is too late."""


def not_ended(seen: Record) -> Iterator[str]:
    """I1, at quiet time: an order that is not Processed or Undone, nor in Error with an alert, nor visibly paused."""
    told = {alert.alert_id for alert in seen.alerts}
    for order_id, task in seen.tasks.items():
        if task.process_state not in (PROCESSED, UNDONE) and task.needs_attention is None:
            yield f"{order_id} is stuck in {task.process_state}"
        if task.due is not None:
            yield f"{order_id} is due for ever"
        for record in task.steps.values():
            if record.process_state is ERROR and f"{order_id}/{record.name}/{record.attempt}" not in told:
                yield f"nobody was told of {order_id}/{record.name}"
    yield from (f"rejected: {fault}" for fault in seen.rejected if "other content" not in fault.reason)


def two_holders(seen: Record) -> Iterator[str]:
    """I2: a change of holder that is neither a claim of what is free nor an end; work of one who is no holder."""
    for write in seen.writes:
        yield from held_wrongly(write)
    yield from (f"{request} was sent before its claim was written" for request in seen.too_early)
    yield from (f"{called} had been ended before it began" for called in seen.effects.calls if called.freed)


def held_wrongly(write: Write) -> Iterator[str]:
    """I2, of one write."""
    if write.after.revision != write.before.revision + 1:
        yield f"revision {write.before.revision} was replaced by {write.after.revision}"
    for before, after in changes(write):
        if (after.process_state is PROCESSING) != (after.locked_by is not None):
            yield f"{after} is held by {after.locked_by}"
        if not (_is_claim(write, before, after) or _is_end(write, before, after) or _is_late(write, before, after)):
            yield f"{before} became {after} by {write.cause}"


def out_of_turn(seen: Record) -> Iterator[str]:
    """I3: a step that was claimed before all that it waits for was done, beside an Error or in a pause."""
    for write in seen.writes:
        yield from claimed_out_of_turn(seen.plan, write)


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


def called_early(seen: Record) -> Iterator[str]:
    """I3: a service that was called before all that the step waits for was done."""
    for called in seen.effects.calls:
        step, done = seen.plan.by_name[forward_name(called.effect)], {*map(forward_name, called.done_before)}
        if not called.effect.endswith(UNDO_SUFFIX) and set(step.after) - (done & called.results):
            yield f"{called} was called too early"


def doubled(seen: Record) -> Iterator[str]:
    """I4: an effect that happened twice, or not at all though its step is Processed; a holder taken for a zombie."""
    effects = Counter(seen.effects.done)
    yield from (f"{effect} happened {times} times" for effect, times in effects.items() if times > 1)
    for order_id, task in seen.tasks.items():
        for record in task.steps.values():
            effect = seen.plan.by_name[record.name].executor(record.policy).effect
            known = seen.effects.buried if record.is_compensation else effects
            if record.process_state is PROCESSED and (order_id, effect.removesuffix(UNDO_SUFFIX)) not in known:
                yield f"{order_id}/{record.name} is Processed without its effect"
            if record.error == STALE_FENCE:
                yield f"{order_id}/{record.name} was refused by its own fence"


def late(seen: Record) -> Iterator[str]:
    """I9: a task that the index lists later than something in it waits for, or not at all though it is to run."""
    for task in seen.tasks.values():
        yield from listed_late(seen.plan, task, seen.timing)


def listed_late(plan: Plan, task: Task, timing: Timing) -> Iterator[str]:
    """I9, of one task; what still waits for other steps waits for no moment."""
    moments = {name: record for name, record in task.steps.items() if not _waits_for_others(plan, task, record)}
    limits = waiting(replace(task, steps=moments))
    if task.process_state is PENDING and not limits and not task.paused:
        limits = [task.created_at + timing.claim_within]
    if limits and (task.due is None or task.due > min(limits)):
        yield f"{task.order_id} is due at {task.due} and waits until {min(limits)}"
    if task.process_state in (PROCESSING, UNDOING) and not limits and not task.paused:
        yield f"{task.order_id} is under way and waits for nothing"


def miscounted(seen: Record) -> Iterator[str]:
    """I5: a threshold reached without its policy, a policy applied twice, or a count that does not follow failures."""
    for write in seen.writes:
        yield from counted_wrongly(seen.plan, write, seen.timing, trouble=seen.trouble)


def counted_wrongly(plan: Plan, write: Write, timing: Timing, *, trouble: bool) -> Iterator[str]:
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
        if counted != _failed(write, before, after, threshold, timing, trouble=trouble) and not _stands_by(
            write, after
        ):
            yield f"{before} became {after}: {counted} failures more"
        if (after.policy, after.rounds) < (before.policy, before.rounds):
            yield f"{before} became {after}: its policies begin anew"


def freed(write: Write) -> Iterator[tuple[str, int]]:
    """The attempts, as step and number, that a Supervisor ends with this write."""
    for before, after in changes(write):
        ended = after.process_state not in (PROCESSING, STOPPED)
        if write.cause is None and ended and before.process_state is PROCESSING:
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
        entry.kind is HistoryKind.FELL_BACK and entry.step == after.name and "takes no requests" in entry.note
        for entry in write.after.history[len(write.before.history) - 20 :]
    )


def _failed(
    write: Write, before: StepRecord, after: StepRecord, threshold: int, timing: Timing, *, trouble: bool
) -> int:
    """1 if this change ended an attempt that ran past complete-by, unless it was excused; that is not done for ever."""
    if write.cause is not None or before.process_state is not PROCESSING or after.process_state is PROCESSING:
        return 0
    if after.process_state is STOPPED:
        return int(write.after.undoing.startswith(f"{after.name}: no answer"))
    told = (
        entry for entry in reversed(write.after.history) if (entry.step, entry.attempt) == (after.name, after.attempt)
    )
    entry = next(entry for entry in told if OVERDUE in entry.kind.marks)
    lenient = before.attempt - before.failure_count <= UNCOUNTED_PER_THRESHOLD * threshold
    uncounted = (entry.value > timing.outage_after and lenient) or (entry.kind is HistoryKind.UNCOUNTED and trouble)
    return 0 if uncounted else 1


def waiting(task: Task) -> list[int]:
    """When each thing that waits has waited long enough; beside an Error, or in a pause, what is Pending waits not."""
    halted = task.paused or any(record.process_state is ProcessState.ERROR for record in task.steps.values())
    limits = [
        record.complete_by
        for record in task.steps.values()
        if record.process_state is ProcessState.PROCESSING
        or (record.process_state is ProcessState.PENDING and not halted)
    ]
    alerting = [record.alert_by for record in task.steps.values()]
    return [limit for limit in (*limits, *alerting) if limit is not None]
