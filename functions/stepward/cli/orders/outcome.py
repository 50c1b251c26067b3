"""What came of a command: read off what the order remembers and off its trail, once the Scheduler has acted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stepward.app.scheduler.audit_log import DONE_AS, AuditEntry
from stepward.cli.following import Asked, CommandOutcome, asked
from stepward.domain.history import HistoryEntry
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Undo
from stepward.domain.task.record import ProcessState, Task


@dataclass(frozen=True, slots=True)
class Seen:
    """An order and its trail, as they stood at one moment."""

    task: Task
    audit_log: tuple[AuditEntry, ...] = ()


def outcome(command: Command, before: Seen, now: Seen) -> CommandOutcome | None:
    """What came of `command` between two looks; None if nothing has yet."""
    if done := _done(command, before.task.history, now.task):
        return _applied(command, done, now.task)
    entry = asked_of_order(command).entry(before.audit_log, now.audit_log)
    return CommandOutcome(applied=False, text=entry.note) if entry and not entry.applied else None


def asked_of_order(command: Command) -> Asked:
    """The command as the order's trail keeps it."""
    step, attempt = (command.step, command.attempt) if isinstance(command, Resubmit) else ("", 0)
    return asked(type(command).__name__.lower(), command, step, attempt)


def _done(command: Command, before: Collection[HistoryEntry], task: Task) -> HistoryEntry | None:
    step = command.step if isinstance(command, Resubmit) else ""
    wanted = (DONE_AS[type(command)], step)
    return next((f for f in reversed(task.history) if (f.kind, f.step) == wanted and f not in before), None)


def _applied(command: Command, done: HistoryEntry, task: Task) -> CommandOutcome:
    # Two people may ask for the same thing in the same moment: one was heard, and both have what they wanted.
    by = "" if done.by == command.who else f" It was {done.by} who asked for it first."
    order = task.order_id
    match command:
        case Pause():
            return CommandOutcome(
                applied=True, text=f"Order {order} is paused: what runs may end, nothing new starts.{by}"
            )
        case Resume():
            return CommandOutcome(applied=True, text=f"Order {order} goes on: it is {task.process_state}.{by}")
        case Resubmit():
            state = task.steps[command.step].process_state
            return CommandOutcome(applied=True, text=f"{command.step} of {order} is run again: it is {state} now.{by}")
        case Undo() | Cancel():
            return _undo(task, by)


def _undo(task: Task, by: str) -> CommandOutcome:
    order, state = task.order_id, task.process_state
    if state is ProcessState.UNDONE:
        return CommandOutcome(applied=True, text=f"Order {order} is Undone: nothing that it did stands any more.{by}")
    if state is ProcessState.UNDO_FAILED:
        failed = [name for name, record in task.steps.items() if record.process_state is ProcessState.ERROR]
        return CommandOutcome(
            applied=True, text=f"Order {order} is UndoFailed: {', '.join(failed)} ended in Error.{by}"
        )
    ended = {ProcessState.PROCESSED, ProcessState.ERROR}
    left = [each.name for each in task.steps.values() if each.is_compensation and each.process_state not in ended]
    text = f"The undo of order {order} has begun; still to do: {', '.join(left)}.{by}"
    return CommandOutcome(applied=True, text=text, final=False)
