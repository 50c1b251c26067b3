"""Derives the outcome of a command from the order's history and its audit log, once the Scheduler has acted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stepward.app.scheduler.audit_log import DONE_AS, AuditEntry, named
from stepward.domain.history import HistoryEntry
from stepward.domain.key import spoken
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.task.record import ProcessState, Task
from stepward.operator.asked import Asked, CommandOutcome, asked


@dataclass(frozen=True, slots=True)
class Seen:
    """An order and its audit log at one moment."""

    task: Task
    audit_log: tuple[AuditEntry, ...] = ()


def outcome(command: Command, before: Seen, now: Seen) -> CommandOutcome | None:
    """The outcome of `command` between two readings; None if there is none yet."""
    if done := _done(command, before.task.history, now.task):
        return _applied(command, done, now.task)
    entry = asked_of_order(command).entry(before.audit_log, now.audit_log)
    return CommandOutcome(applied=False, text=entry.note) if entry and not entry.applied else None


def asked_of_order(command: Command) -> Asked:
    """The command as the order's audit log records it."""
    name, step, attempt = named(command)
    return asked(name, command, step, attempt)


def _done(command: Command, before: Collection[HistoryEntry], task: Task) -> HistoryEntry | None:
    _, step, _ = named(command)
    wanted = (DONE_AS[type(command)], step)
    fresh = (entry for entry in reversed(task.history) if entry not in before and _may_be(command, entry))
    return next((entry for entry in fresh if (entry.kind, entry.step) == wanted), None)


def _may_be(command: Command, entry: HistoryEntry) -> bool:
    """Whether the entry may be what became of the command; of a signal only if it is that very one."""
    return not isinstance(command, SignalGiven) or (entry.by, entry.note) == (command.who, command.why)


def _applied(command: Command, done: HistoryEntry, task: Task) -> CommandOutcome:
    # Two people may ask for the same thing at once: one command is applied, and both have what they wanted.
    by = "" if done.by == command.who else f" {done.by} asked for it first."
    order, is_good = spoken(task.order_id), True
    match command:
        case Pause():
            text = f"Order {order} is paused: running steps may end, no step starts.{by}"
        case Resume():
            text = f"Order {order} goes on: it is {task.process_state}.{by}"
        case Resubmit():
            state = task.steps[command.step].process_state
            is_good = state is not ProcessState.ERROR
            text = f"Step {command.step} of order {order} runs again: it is {state} now.{by}"
        case SignalGiven():
            record = task.steps[command.step]
            became = "is kept until the step begins" if record.early else f"counts: the step is {record.process_state}"
            text = f"The signal {command.step} of order {order} {became}."
        case Undo() | Cancel():
            return _undo(task, by)
    return CommandOutcome(applied=True, text=text, is_good=is_good)


def _undo(task: Task, by: str) -> CommandOutcome:
    order, state = spoken(task.order_id), task.process_state
    if state is ProcessState.UNDONE:
        return CommandOutcome(applied=True, text=f"Order {order} is Undone: all its effects are compensated.{by}")
    if state is ProcessState.UNDO_FAILED:
        failed = ", ".join(name for name, record in task.steps.items() if record.process_state is ProcessState.ERROR)
        text = f"Order {order} is UndoFailed: {failed} ended in Error.{by}"
        return CommandOutcome(applied=True, text=text, is_good=False)
    ended = {ProcessState.PROCESSED, ProcessState.ERROR}
    left = [each.name for each in task.steps.values() if each.is_compensation and each.process_state not in ended]
    text = f"The undo of order {order} has begun; still to do: {', '.join(left)}.{by}"
    return CommandOutcome(applied=True, text=text, final=False)
