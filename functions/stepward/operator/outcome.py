"""Derives the outcome of a command from the order's history, or its lane, and its audit log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from stepward.app.convoy.dry_run import dry_run
from stepward.app.convoy.history import stored_at_position
from stepward.app.scheduler.audit_log import DONE_AS, AuditEntry, named
from stepward.domain.convoy.apply_command import LaneRefusal, is_done, refused
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.history import HistoryEntry
from stepward.domain.key import spoken
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.domain.workflow.plan import Plan
from stepward.operator.asked import Asked, CommandOutcome, asked
from stepward.operator.connection import Connection
from stepward.operator.lane_words import lane_position
from stepward.operator.wording.undone import undone
from stepward.wire.order_event import stored_event

LANE_COMMANDS = {RetryLane: "retry", SkipEvent: "skip", ReplaceEvent: "replace"}
_DONE = {RetryLane: "was tried again", SkipEvent: "was skipped", ReplaceEvent: "was replaced"}


@dataclass(frozen=True, slots=True)
class Seen:
    """An order and its audit log at one moment."""

    task: Task
    plan: Plan
    audit_log: tuple[AuditEntry, ...] = ()


def seen(connection: Connection, loaded: Loaded) -> Seen:
    """The order with what stands beside it; raises StepwardError."""
    return Seen(loaded.task, loaded.plan, connection.audit_log.of(loaded.task.order_id))


def outcome(command: Command, before: Seen, now: Seen) -> CommandOutcome | None:
    """The outcome of `command` between two readings; None if there is none yet."""
    if done := _done(command, before.task.history, now.task):
        return _applied(command, done, now)
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


def _applied(command: Command, done: HistoryEntry, now: Seen) -> CommandOutcome:
    # Two people may ask for the same thing at once: one command is applied, and both have what they wanted.
    by = "" if done.by == command.who else f" {done.by} asked for it first."
    task = now.task
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
            return _undo(task, now.plan, by)
    return CommandOutcome(applied=True, text=text, is_good=is_good)


def _undo(task: Task, plan: Plan, by: str) -> CommandOutcome:
    order, state = spoken(task.order_id), task.process_state
    if state is ProcessState.UNDONE:
        return CommandOutcome(applied=True, text=f"Order {order} is Undone: {undone(task, plan)}.{by}")
    if state is ProcessState.UNDO_FAILED:
        failed = ", ".join(name for name, record in task.steps.items() if record.process_state is ProcessState.ERROR)
        text = f"Order {order} is UndoFailed: {failed} ended in Error.{by}"
        return CommandOutcome(applied=True, text=text, is_good=False)
    ended = {ProcessState.PROCESSED, ProcessState.ERROR}
    left = [each.name for each in task.steps.values() if each.is_compensation and each.process_state not in ended]
    text = f"The undo of order {order} has begun; still to do: {', '.join(left)}.{by}"
    return CommandOutcome(applied=True, text=text, final=False)


@dataclass(frozen=True, slots=True)
class LaneSeen:
    """A lane, the event after its last applied one if it has arrived, and the order's audit log, at one moment."""

    lane: Lane
    following: StoredEvent | None = None
    audit_log: tuple[AuditEntry, ...] = ()


def lane_seen(connection: Connection, lane: Lane) -> LaneSeen:
    """The lane with what stands beside it; raises StepwardError."""
    following = stored_at_position(connection.lanes, lane, lane.last + 1) if lane.last < lane.highest else None
    return LaneSeen(lane, following, connection.audit_log.of(lane.order_id))


def lane_refusal(connection: Connection, lane: Lane, command: LaneCommand) -> LaneRefusal | None:
    """Why the lane would refuse the command now, by its own decision; raises Transient or Corrupt."""
    decode = partial(stored_event, keys=connection.deployment.keys)
    return dry_run(connection.lanes, lane, decode, lambda held: refused(lane, held, command))


def lane_outcome(command: LaneCommand, before: LaneSeen, now: LaneSeen) -> CommandOutcome | None:
    """The outcome of `command` between two readings; None if there is none yet."""
    mine = asked_of_lane(command).entry(before.audit_log, now.audit_log)
    if mine and not mine.applied:
        return CommandOutcome(applied=False, text=mine.note)
    if mine or is_done(now.lane, command):
        goes_on = now.lane.last < now.lane.highest and not now.lane.blocked and now.following is not None
        text = _of_lane(command, before.lane, now)
        return CommandOutcome(applied=True, text=text, final=not goes_on, is_good=now.lane.blocked is None)
    return None


def asked_of_lane(command: LaneCommand) -> Asked:
    """The command as the order's audit log records it."""
    event = "" if isinstance(command, RetryLane) else f"event {sequence_name(command.position)}"
    return asked(f"convoy {LANE_COMMANDS[type(command)]}", command, event)


def _of_lane(command: LaneCommand, before: Lane, now: LaneSeen) -> str:
    position = event_of(command, before)
    event = sequence_name(position) if position else ""
    blocked = now.lane.blocked
    again = isinstance(command, RetryLane) and blocked is not None and blocked.position == position
    what = f"Event {event} {_DONE[type(command)]}" if event else "The lane goes on"
    if again and blocked:
        return f"{what}, and still stops the lane: {blocked.reason}."
    return f"{what}; {lane_position(now.lane, now.following)}."


def event_of(command: LaneCommand, lane: Lane) -> int:
    """The position of the event that the command is about; 0 if it is about none."""
    if isinstance(command, RetryLane):
        return lane.blocked.position if lane.blocked else 0
    return command.position
