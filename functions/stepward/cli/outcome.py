"""What came of a command: read off what the order remembers and off its trail, once the Scheduler has acted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from stepward.app.trail import DONE_AS, Entry
from stepward.domain.facts import Fact
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo
from stepward.domain.task import ProcessState, Task
from stepward.wire.plain import cleaned

STEP_MS = 250
WITHIN_MS = 10_000


@dataclass(frozen=True, slots=True)
class Seen:
    """An order and its trail, as they stood at one moment."""

    task: Task
    trail: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a command: it was applied, or refused; `final` if nothing more is to come of it."""

    applied: bool
    text: str
    final: bool = True


def outcome(command: Command, before: Seen, now: Seen) -> Outcome | None:
    """What came of `command` between two looks; None if nothing has yet."""
    if done := _done(command, before.task.history, now.task):
        return _applied(command, done, now.task)
    for entry in now.trail:
        mine = (entry.command, entry.who) == (type(command).__name__.lower(), cleaned(command.who, 200))
        if mine and not entry.applied and entry not in before.trail:
            return Outcome(applied=False, text=entry.note)
    return None


def awaited(
    look: Callable[[], Outcome | None], now: Callable[[], int], sleep: Callable[[float], object]
) -> Outcome | None:
    """The outcome, looked for every quarter of a second until it is final or ten seconds are over."""
    until = now() + WITHIN_MS
    found = look()
    while not (found and found.final) and now() < until:
        sleep(STEP_MS / 1000)
        found = look()
    return found


def _done(command: Command, before: Collection[Fact], task: Task) -> Fact | None:
    step = command.step if isinstance(command, Resubmit) else ""
    wanted = (DONE_AS[type(command)], step)
    return next((f for f in reversed(task.history) if (f.kind, f.step) == wanted and f not in before), None)


def _applied(command: Command, done: Fact, task: Task) -> Outcome:
    # Two people may ask for the same thing in the same moment: one was heard, and both have what they wanted.
    by = "" if done.by == command.who else f" It was {done.by} who asked for it first."
    order = task.order_id
    match command:
        case Pause():
            return Outcome(applied=True, text=f"Order {order} is paused: what runs may end, nothing new starts.{by}")
        case Resume():
            return Outcome(applied=True, text=f"Order {order} goes on: it is {task.process_state}.{by}")
        case Resubmit():
            state = task.steps[command.step].process_state
            return Outcome(applied=True, text=f"{command.step} of {order} is run again: it is {state} now.{by}")
        case Undo() | Cancel():
            return _undo(task, by)


def _undo(task: Task, by: str) -> Outcome:
    order, state = task.order_id, task.process_state
    if state is ProcessState.UNDONE:
        return Outcome(applied=True, text=f"Order {order} is Undone: nothing that it did stands any more.{by}")
    if state is ProcessState.UNDO_FAILED:
        failed = [name for name, record in task.steps.items() if record.process_state is ProcessState.ERROR]
        return Outcome(applied=True, text=f"Order {order} is UndoFailed: {', '.join(failed)} ended in Error.{by}")
    left = [name for name, record in task.steps.items() if record.is_compensation and not _ended(record.process_state)]
    text = f"The undo of order {order} has begun; still to do: {', '.join(left)}.{by}"
    return Outcome(applied=True, text=text, final=False)


def _ended(state: ProcessState) -> bool:
    return state in {ProcessState.PROCESSED, ProcessState.ERROR}
