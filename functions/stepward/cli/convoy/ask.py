"""Sends a command to a lane: checks it first, and reports the outcome."""

from __future__ import annotations

from stepward.cli.convoy.refusals import lane_refusal
from stepward.cli.deployment.options import Target
from stepward.cli.following import Following
from stepward.cli.orders.show import key_named
from stepward.cli.user_error import UserError
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.key import spoken
from stepward.operator.connection import Connection
from stepward.operator.lane_words import lane_state
from stepward.operator.outcome import LANE_COMMANDS, LaneSeen, asked_of_lane, event_of, lane_outcome, lane_seen
from stepward.wire.convoy import encode_command


def lane_of(target: Target, connection: Connection, order: str) -> LaneSeen:
    """The lane of an order; if there is none, raises UserError with what to type next."""
    key = key_named(target, connection, order)
    lane = connection.lanes.load(key)
    if lane is None:
        orders, rejects = target.typed("show", key), target.typed("rejects")
        raise UserError(f"stack {target.stack} has received no event of order {spoken(key)}; see {orders} or {rejects}")
    return lane_seen(connection, lane)


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
    position = event_of(command, before.lane)
    Following(
        asked=asked_of_lane(command),
        order=order,
        workflow=connection.deployment.keys.default,
        whom=f"the lane of order {spoken(order)}",
        what=LANE_COMMANDS[type(command)],
        hint=f"To see the lane: {target.typed('convoy', 'show', order)}",
        about={"event": sequence_name(position) if position else None},
        seen=before,
        look=lambda: lane_of(target, connection, order),
        outcome=lambda seen: lane_outcome(command, before, seen),
        state=lambda seen: {"state": lane_state(seen.lane), "last": seen.lane.last},
    ).follow(connection.now, wait=wait, as_json=as_json)
