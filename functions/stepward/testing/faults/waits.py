"""I11 to I13, of one write: how a wait may change, a step that is answered later, one with a condition, and a child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stepward.app.scheduler.large_results import MOST_BYTES
from stepward.domain.key import child_key
from stepward.domain.messages import Callback, ChildEnded, Outcome, Reply, Resubmit, SignalGiven
from stepward.domain.steps.many import begun, by_children, children, ended, is_many, under_way
from stepward.domain.task.record import DONE, SERVICE, ProcessState, StepRecord, Task, TimeLimit
from stepward.domain.workflow.effects import MOST_INLINE, Item
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, StepKind, forward_name
from stepward.testing.faults.record import Write

PENDING, PROCESSING, PROCESSED, ERROR, STOPPED, *_, SKIPPED = ProcessState


def is_condition(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether a step was skipped before anybody had begun it, or its condition could not be told."""
    fresh = before.process_state is PENDING and before.token is None is after.token and write.cause is not None
    return fresh and (after.process_state is SKIPPED or (after.process_state is ERROR and after.attempt == 1))


def later(write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether a step was handed over to its service by the attempt that holds it, or ended by that service."""
    same = (after.attempt, after.token) == (before.attempt, before.token)
    match write.cause:
        case Reply(outcome=Outcome.LATER, token=token):
            handed = before.process_state is PROCESSING is after.process_state and after.locked_by == SERVICE
            return same and handed and token == before.token
        case Callback(error=""):
            ends = after.process_state is PROCESSED and before.process_state in (PENDING, PROCESSING, ERROR)
            return same and before.attempt > 0 and (ends or before.process_state is STOPPED is after.process_state)
        case Callback():
            return same and before.process_state is PROCESSING and after.process_state in (ERROR, STOPPED)
    return False


def outlived(task: Task, plan: Plan, tasks: Mapping[str, Task]) -> Iterator[str]:
    """I13: children that go on although their parent has ended, or that were not undone with it."""
    for step in plan.steps if task.has_ended else ():
        names = [step.name] if step.child and task.steps[step.name].token else _of_items(task, step)
        for name, child in ((name, tasks.get(child_key(task.order_id, name))) for name in names):
            if child is None or not (child.undoing if task.undoing else child.process_state is PROCESSED):
                yield f"it is {task.process_state}, and its child {name} is {child and child.process_state}"


def held_up(task: Task, tasks: Mapping[str, Task]) -> bool:
    """Whether it waits for a child that does some of its items, and that waits for a person: it asks on and on."""
    children = (each for each in tasks.values() if each.parent and each.parent.order_id == task.order_id)
    of_items = (each for each in children if each.parent and "." in each.parent.step)
    return not task.has_ended and any(each.needs_attention is not None for each in of_items)


def _unasked(task: Task, plan: Plan) -> list[ProcessState]:
    """Pending, for each of many items that has children of which nobody has asked."""
    each = [(plan.by_name[record.name], record) for record in task.steps.values() if record.runs and is_many(record)]
    left = (record.complete_by is None or begun(step, record) < children(record) for step, record in each)
    return [PENDING] * any(left)


def idles(task: Task, plan: Plan, tasks: Mapping[str, Task]) -> bool:
    """Whether all that it is due for is to ask children again that do some of its items, and wait for a person."""
    asking = [it for it in task.steps.values() if it.runs and it.items and by_children(it) and it.complete_by]
    if not asking or (task.due or 0) < min(record.complete_by or 0 for record in asking):
        return False
    silent = {record.name: replace(record, complete_by=None) for record in asking}
    rest = replace(task, steps={**task.steps, **silent})
    return not waiting(rest) and not times_out(plan, task) and all(_stands(plan, it, tasks) for it in asking)


def _stands(plan: Plan, record: StepRecord, tasks: Mapping[str, Task]) -> bool:
    """Whether its children under way have all heard what they are asked, and none can go on by itself."""
    names = (f"{forward_name(record.name)}.{at}" for at in under_way(plan.by_name[record.name], record))
    found = [tasks.get(child_key(record.order_id, name)) for name in names]
    asked = all(child and not child.has_ended and (child.undoing or not record.is_compensation) for child in found)
    return asked and all(child.due is None for child in found if child)


def times_out(plan: Plan, task: Task) -> list[int]:
    """When the order's complete-by passes, if its policy would stop anything then."""
    limit = task.limit(plan) if task.time_limit is TimeLimit.HOLDS and not task.undoing else None
    states = [it.process_state for it in task.steps.values() if not it.is_compensation] + _unasked(task, plan)
    begun = any(step.point_of_no_return and task.steps[step.name].attempt for step in plan.steps)
    goes_back = plan.on_timeout is Exhausted.UNDO and not begun
    stops = (
        bool(set(states) - {PROCESSED, SKIPPED}) if goes_back else PENDING in states and task.process_state is not ERROR
    )
    return [limit] if limit is not None and stops else []


def waiting(task: Task) -> list[int]:
    """When each thing that waits has waited long enough; a Pending step does not wait beside an Error or in a pause."""
    halted = task.paused or any(record.process_state is ERROR for record in task.steps.values())
    limits = [
        record.complete_by
        for record in task.steps.values()
        if record.process_state is PROCESSING or (record.process_state is PENDING and not halted)
    ]
    asking = [*(record.alert_by for record in task.steps.values()), task.parent.tell_by if task.parent else None]
    return [limit for limit in (*limits, *asking) if limit is not None]


def _of_items(task: Task, step: PlannedStep) -> Sequence[str]:
    """The children that do items of an each, and have been asked for."""
    record = task.steps[step.name]
    return [f"{step.name}.{at}" for at in range(begun(step, record) if step.parts and is_many(record) else 0)]


def crowded(task: Task, plan: Plan) -> Iterator[str]:
    """W5: an each that has more items under way than it does at once."""
    for step in (each for each in plan.steps if each.parts):
        running = (name for name, record in task.steps.items() if record.process_state not in {*DONE, STOPPED})
        items = {item.at for item in map(Item.read, running) if item.step == step.name and item.at >= 0}
        if len(items) > step.at_once and not task.undoing:
            yield f"{step.name} does {len(items)} items at once, not {step.at_once}"


def waited(planned: PlannedStep, write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether a wait may become what it is `after` the write."""
    same = after.attempt == before.attempt and after.token == before.token
    match before.process_state, after.process_state:
        case ProcessState.PENDING, ProcessState.PENDING:
            fits = same and (after.early == before.early or _is_given(write, after))
        case ProcessState.PENDING, ProcessState.PROCESSING:
            fits = after.attempt == before.attempt + 1 and write.cause is not None
        case ProcessState.PROCESSING, ProcessState.PROCESSING:
            fits = same
        case ProcessState.PENDING | ProcessState.PROCESSING | ProcessState.ERROR, ProcessState.PROCESSED:
            fits = _ends(planned, write, before, after)
        case ProcessState.ERROR, ProcessState.PENDING | ProcessState.PROCESSING:
            again = after.process_state is PENDING or after.attempt == before.attempt + 1
            fits = isinstance(write.cause, Resubmit) and again
        case _, ProcessState.STOPPED:
            fits = bool(write.after.undoing) and before.process_state not in (PROCESSED, SKIPPED)
        case _:
            fits = after.process_state is ERROR and before.process_state not in (PROCESSED, SKIPPED, STOPPED)
    return fits


def _is_given(write: Write, after: StepRecord) -> bool:
    given, kept = write.cause, after.early
    return isinstance(given, SignalGiven) and kept is not None and given.signal_id == kept.signal_id


def _ends(planned: PlannedStep, write: Write, before: StepRecord, after: StepRecord) -> bool:
    """Whether it is over: a timer not early, a signal by what was given, or by its policy."""
    if planned.kind is StepKind.CHILD:
        match write.cause:
            case ChildEnded(step=step, error="", undone=undone) if step == forward_name(after.name):
                return before.attempt > 0 and undone is after.is_compensation
        return False
    if planned.kind is StepKind.EACH:
        if after.items > MOST_INLINE - after.is_compensation:
            ends = ended(after) == children(after)
            return ends and isinstance(write.cause, ChildEnded)
        parts = [name for at in range(after.items) for name in planned.of_item(at)]
        return all(name in write.after.steps and write.after.steps[name].process_state in DONE for name in parts)
    if planned.kind is StepKind.TIMER:
        limit = before.complete_by if before.process_state is PROCESSING else after.started_at
        again = isinstance(write.cause, Resubmit)
        return (before.process_state is not ERROR or again) and (after.ended_at or 0) >= (limit or 0)
    kept = before.early.signal_id if before.early else None
    given = write.cause.signal_id if isinstance(write.cause, SignalGiven) and write.cause.step == after.name else kept
    policies = [policy.kind for policy in planned.exhausted]
    return after.token == given or (write.cause is None and Exhausted.DEFAULT in policies)


def skipped(task: Task, name: str) -> bool:
    """Whether the step's condition did not hold."""
    return task.steps[name].process_state is SKIPPED


def left_out(task: Task, name: str) -> bool:
    """Whether a request may lack the step's result: it is large, and the large ones are more than a request holds."""
    large = {record.name: record.size for record in task.steps.values() if record.size}
    return sum(large.values()) > MOST_BYTES and any(name in {it, Item.read(it).step} for it in large)
