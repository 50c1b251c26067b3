"""What an operator asks of an order in vain, and why."""

from __future__ import annotations

from stepward.cli.story import all_records, stuck_at
from stepward.cli.where import Declined, Where
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume
from stepward.domain.task import Loaded, ProcessState, StepRecord

ENDED = frozenset({ProcessState.PROCESSED, ProcessState.UNDONE})


def refusal(loaded: Loaded, command: Command, where: Where) -> str:
    """Why the Scheduler would do nothing about `command`, and what to do instead; "" if it would."""
    match command:
        case Pause():
            return _no_pause(loaded, where)
        case Resume():
            return (
                "" if loaded.task.paused else f"order {loaded.task.order_id} is not paused; there is nothing to resume"
            )
        case Resubmit():
            return _no_resubmission(loaded, command)
        case _:
            word = "cancelled" if isinstance(command, Cancel) else "undone"
            return _no_undo(loaded, word, where)


def chosen(where: Where, loaded: Loaded, step: str) -> StepRecord:
    """The failed step or compensation that is meant; raises Declined and says which there are if that is unclear."""
    order, records = loaded.task.order_id, {each.name: each for each in all_records(loaded.task, loaded.plan)}
    failed = {name: record for name, record in records.items() if record.process_state is ProcessState.ERROR}
    if step and step not in records:
        raise Declined(f"order {order} has no step {step}; its steps: {', '.join(records)}")
    if step in failed:
        return failed[step]
    if not failed:
        states = ", ".join(f"{name} is {record.process_state}" for name, record in records.items())
        raise Declined(f"nothing of order {order} is in Error: {states}")
    if step:
        raise Declined(f"{step} is {records[step].process_state}; in Error: {', '.join(failed)}")
    if len(failed) > 1:
        one = where.typed("resubmit", order, next(iter(failed)), "--why", "...")
        raise Declined(f"{len(failed)} steps are in Error: {', '.join(failed)}; name one: {one}")
    return next(iter(failed.values()))


def _no_pause(loaded: Loaded, where: Where) -> str:
    order, task = loaded.task.order_id, loaded.task
    if task.paused:
        again = where.typed("resume", order, "--why", "...")
        return f"order {order} is paused already: {task.paused}. To go on: {again}"
    if task.process_state in ENDED:
        return f"order {order} is {task.process_state}; there is nothing left to pause"
    return ""


def _no_undo(loaded: Loaded, word: str, where: Where) -> str:
    task = loaded.task
    look = where.typed("show", task.order_id)
    match task.process_state:
        case ProcessState.UNDONE:
            return f"order {task.order_id} is undone already: {task.undoing}. See how: {look}"
        case ProcessState.UNDO_FAILED:
            return f"its undo has begun already, and has failed: {task.undoing}. See where, and what to type: {look}"
        case ProcessState.UNDOING:
            return f"its undo has begun already: {task.undoing}. See how far it is: {look}"
    if stuck := stuck_at(task, loaded.plan):
        return (
            f"order {task.order_id} cannot be {word}: {stuck} has begun, its point of no return; it only goes forward"
        )
    return ""


def _no_resubmission(loaded: Loaded, command: Resubmit) -> str:
    record = loaded.task.steps.get(command.step)
    if record is None:
        return f"order {command.order_id} has no step {command.step}"
    if (record.process_state, record.attempt) != (ProcessState.ERROR, command.attempt):
        return (
            f"{command.step} is {record.process_state} at attempt {record.attempt}; it is run again only after an Error"
        )
    return ""
