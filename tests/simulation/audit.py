"""The invariants, each as a function that names what is broken; all but I1 look at what happened last."""

from collections import Counter
from collections.abc import Iterator

from stepward.domain.facts import OVERDUE, FactKind
from stepward.domain.messages import Reply, Resubmit
from stepward.domain.task import ProcessState, StepRecord
from tests.factories import waiting
from tests.simulation.deployment import TIMING, Deployment
from tests.simulation.faults import Write
from tests.simulation.service import STALE_FENCE

PENDING, PROCESSING, PROCESSED, ERROR = ProcessState


def not_ended(world: Deployment) -> Iterator[str]:
    """I1, at quiet time: an order that is not Processed, nor in Error with an alert; a message that was refused."""
    told = {alert.alert_id for alert in world.operators.told}
    for order_id, task in world.store.inner.tasks.items():
        if task.process_state not in (PROCESSED, ERROR):
            yield f"{order_id} is stuck in {task.process_state}"
        if task.due is not None:
            yield f"{order_id} is due for ever"
        for record in task.steps.values():
            if record.process_state is ERROR and f"{order_id}/{record.name}/{record.attempt}" not in told:
                yield f"nobody was told of {order_id}/{record.name}"
    yield from (f"rejected: {fault}" for fault in world.rejected if "other content" not in fault.reason)


def two_holders(world: Deployment) -> Iterator[str]:
    """I2: a change of holder that is neither a claim of what is free nor an end; work of one who is no holder."""
    for write in world.store.writes:
        if write.after.revision != write.before.revision + 1:
            yield f"revision {write.before.revision} was replaced by {write.after.revision}"
        for before, after in changes(write):
            if (after.process_state is PROCESSING) != (after.locked_by is not None):
                yield f"{after} is held by {after.locked_by}"
            if not _is_claim(write, before, after) and not _is_end(write, before, after):
                yield f"{before} became {after} by {write.cause}"
    yield from (f"{request} was sent before its claim was written" for request in world.post.too_early)
    yield from (f"{called} had been ended before it began" for called in world.service.calls if called.freed)


def out_of_turn(world: Deployment) -> Iterator[str]:
    """I3: a step that was claimed or called before all that it waits for was Processed, or beside an Error."""
    for write in world.store.writes:
        for before, after in changes(write):
            waits_for = world.plan.by_name[after.name].after
            states = {write.after.steps[name].process_state for name in waits_for}
            if after.attempt > before.attempt and states - {PROCESSED}:
                yield f"{after.name} was claimed while {waits_for} were {states}"
            if after.attempt > before.attempt and write.after.process_state is ERROR:
                yield f"{after.name} was claimed beside a step in Error"
    for called in world.service.calls:
        if set(world.plan.by_name[called.step].after) - (called.done_before & called.results):
            yield f"{called} was called too early"


def doubled(world: Deployment) -> Iterator[str]:
    """I4: an effect that happened twice, or not at all though its step is Processed; a holder taken for a zombie."""
    effects = Counter(world.service.effects)
    yield from (f"{effect} happened {times} times" for effect, times in effects.items() if times > 1)
    for order_id, task in world.store.inner.tasks.items():
        for record in task.steps.values():
            if record.process_state is PROCESSED and not effects[order_id, record.name]:
                yield f"{order_id}/{record.name} is Processed without its effect"
            if record.error == STALE_FENCE:
                yield f"{order_id}/{record.name} was refused by its own fence"


def miscounted(world: Deployment) -> Iterator[str]:
    """I5: a FailureCount at the threshold without Error, or one that does not follow the attempts that failed."""
    for write in world.store.writes:
        for before, after in changes(write):
            threshold = world.plan.by_name[after.name].threshold
            counted = after.failure_count - before.failure_count
            if after.failure_count > threshold or (
                after.failure_count == threshold and after.process_state is not ERROR
            ):
                yield f"{after} goes on though its threshold is {threshold}"
            if counted != _failed(world, write, before, after) and not isinstance(write.cause, Resubmit):
                yield f"{before} became {after}: {counted} failures more"


def late(world: Deployment) -> Iterator[str]:
    """I9: a task that the index lists later than something in it waits for, or not at all though it is to run."""
    for order_id, task in world.store.inner.tasks.items():
        limits = waiting(task)
        if task.process_state is PENDING and not limits:
            limits = [task.created_at + TIMING.claim_within]
        if limits and (task.due is None or task.due > min(limits)):
            yield f"{order_id} is due at {task.due} and waits until {min(limits)}"
        if task.process_state is PROCESSING and not limits:
            yield f"{order_id} is under way and waits for nothing"


def changes(write: Write) -> Iterator[tuple[StepRecord, StepRecord]]:
    """The records that differ, before and after."""
    for name, before in write.before.steps.items():
        if before != write.after.steps[name]:
            yield before, write.after.steps[name]


def _is_claim(write: Write, before: StepRecord, after: StepRecord) -> bool:
    asked_again = isinstance(write.cause, Resubmit) and write.cause.step == before.name
    free = before.process_state is PENDING or (before.process_state is ERROR and asked_again)
    higher = write.before.fence < after.fence <= write.after.fence
    taken = after.process_state is PROCESSING and after.attempt == before.attempt + 1
    return free and taken and higher and after.token != before.token


def _is_end(write: Write, before: StepRecord, after: StepRecord) -> bool:
    same = (after.attempt, after.token) == (before.attempt, before.token)
    if after.process_state is PROCESSED:
        by_holder = isinstance(write.cause, Reply) and (write.cause.step, write.cause.attempt, write.cause.token) == (
            before.name,
            before.attempt,
            before.token,
        )
        in_time = (after.ended_at or 0) <= (before.complete_by or 0)
        return same and before.process_state is PROCESSING and by_holder and in_time
    return same and PROCESSED is not before.process_state and after.process_state is not PROCESSING


def _failed(world: Deployment, write: Write, before: StepRecord, after: StepRecord) -> int:
    """1 if this change ended an attempt that ran past complete-by, unless there was an outage or a backlog."""
    if write.cause is not None or before.process_state is not PROCESSING or after.process_state is PROCESSING:
        return 0
    told = (fact for fact in reversed(write.after.history) if (fact.step, fact.attempt) == (after.name, after.attempt))
    fact = next(fact for fact in told if fact.kind in OVERDUE)
    excused = fact.value > TIMING.outage_after or (fact.kind is FactKind.EXCUSED and world.post.backlog_seen)
    return 0 if excused else 1
