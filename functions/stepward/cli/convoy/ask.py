"""Sends a command to a lane: checks it first, and reports the outcome."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.app.convoy.history import stored_at_position
from stepward.app.scheduler.audit_log import AuditEntry
from stepward.cli.convoy.refusals import lane_refusal
from stepward.cli.deployment.options import Target
from stepward.cli.following import Following
from stepward.cli.orders.show import key_named
from stepward.cli.user_error import UserError
from stepward.domain.convoy.apply_command import is_done
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.key import spoken
from stepward.operator.asked import Asked, CommandOutcome, asked
from stepward.operator.connection import Connection
from stepward.operator.lane_words import lane_position, lane_state
from stepward.wire.convoy import encode_command

NAMES = {RetryLane: "retry", SkipEvent: "skip", ReplaceEvent: "replace"}
_DONE = {RetryLane: "was tried again", SkipEvent: "was skipped", ReplaceEvent: "was replaced"}


@dataclass(frozen=True, slots=True)
class LaneSeen:
    """A lane, the event after its last applied one if it has arrived, and the order's audit log, at one moment."""

    lane: Lane
    following: StoredEvent | None = None
    audit_log: tuple[AuditEntry, ...] = ()


def lane_outcome(command: LaneCommand, before: LaneSeen, now: LaneSeen) -> CommandOutcome | None:
    """The outcome of `command` between two readings; None if there is none yet."""
    mine = _asked(command).entry(before.audit_log, now.audit_log)
    if mine and not mine.applied:
        return CommandOutcome(applied=False, text=mine.note)
    if mine or is_done(now.lane, command):
        goes_on = now.lane.last < now.lane.highest and not now.lane.blocked and now.following is not None
        text = _words(command, before.lane, now)
        return CommandOutcome(applied=True, text=text, final=not goes_on, is_good=now.lane.blocked is None)
    return None


def lane_of(target: Target, connection: Connection, order: str) -> LaneSeen:
    """The lane of an order; if there is none, raises UserError with what to type next."""
    key = key_named(target, connection, order)
    lane = connection.lanes.load(key)
    if lane is None:
        orders, rejects = target.typed("show", key), target.typed("rejects")
        raise UserError(f"stack {target.stack} has received no event of order {spoken(key)}; see {orders} or {rejects}")
    following = stored_at_position(connection.lanes, lane, lane.last + 1) if lane.last < lane.highest else None
    return LaneSeen(lane, following, connection.audit_log.of(key))


def ask_lane(
    target: Target, connection: Connection, before: LaneSeen, command: LaneCommand, *, wait: bool, as_json: bool
) -> None:
    """Send `command` and report its outcome; if it would be refused, raises UserError with what to do instead."""
    order = command.order_id
    if refused := lane_refusal(connection.lanes, before.lane, command, target, connection.deployment.keys):
        raise UserError(refused)
    # A new name each time, so that the queue does not drop a deliberate repetition as a duplicate.
    message = LaneMessage(order, f"operator/{command.command_id}", encode_command(command))
    connection.lane_queue.send([message])
    position = _position(command, before.lane)
    Following(
        asked=_asked(command),
        order=order,
        workflow=connection.deployment.keys.default,
        whom=f"the lane of order {spoken(order)}",
        what=NAMES[type(command)],
        hint=f"To see the lane: {target.typed('convoy', 'show', order)}",
        about={"event": sequence_name(position) if position else None},
        seen=before,
        look=lambda: lane_of(target, connection, order),
        outcome=lambda seen: lane_outcome(command, before, seen),
        state=lambda seen: {"state": lane_state(seen.lane), "last": seen.lane.last},
    ).follow(connection.now, wait=wait, as_json=as_json)


def _asked(command: LaneCommand) -> Asked:
    event = "" if isinstance(command, RetryLane) else f"event {sequence_name(command.position)}"
    return asked(f"convoy {NAMES[type(command)]}", command, event)


def _words(command: LaneCommand, before: Lane, now: LaneSeen) -> str:
    position = _position(command, before)
    event = sequence_name(position) if position else ""
    blocked = now.lane.blocked
    again = isinstance(command, RetryLane) and blocked is not None and blocked.position == position
    what = f"Event {event} {_DONE[type(command)]}" if event else "The lane goes on"
    if again and blocked:
        return f"{what}, and still stops the lane: {blocked.reason}."
    return f"{what}; {lane_position(now.lane, now.following)}."


def _position(command: LaneCommand, lane: Lane) -> int:
    if isinstance(command, RetryLane):
        return lane.blocked.position if lane.blocked else 0
    return command.position
