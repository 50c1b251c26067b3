"""Asking a lane for something: look first, send, and tell what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.app.convoy.history import kept_at
from stepward.app.scheduler.audit_log import Entry
from stepward.cli.convoy.refusals import lane_refusal
from stepward.cli.convoy.wording import lane_state, standing
from stepward.cli.deployment.connection import Connection
from stepward.cli.deployment.options import Where
from stepward.cli.following import Asked, Following, Outcome, asked
from stepward.cli.user_error import Declined
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import Kept, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.wire.convoy import encode_command

NAMES = {RetryLane: "retry", SkipEvent: "skip", ReplaceEvent: "replace"}
_DONE = {RetryLane: "was tried again", SkipEvent: "was passed over", ReplaceEvent: "was replaced"}


@dataclass(frozen=True, slots=True)
class LaneSeen:
    """A lane, the event after its last applied one if that has come, and the order's trail, at one moment."""

    lane: Lane
    following: Kept | None = None
    trail: tuple[Entry, ...] = ()


def lane_outcome(command: LaneCommand, before: LaneSeen, now: LaneSeen) -> Outcome | None:
    """What came of `command` between two looks; None if nothing has yet."""
    mine = _asked(command).entry(before.trail, now.trail)
    if mine and not mine.applied:
        return Outcome(applied=False, text=mine.note)
    if mine or now.lane.done == command.asked:
        goes_on = now.lane.last < now.lane.highest and not now.lane.blocked and now.following is not None
        return Outcome(applied=True, text=_words(command, before.lane, now), final=not goes_on)
    return None


def lane_of(where: Where, connection: Connection, order: str) -> LaneSeen:
    """The lane of an order as it stands; raises Declined, with where to look, if there is none."""
    lane = connection.lanes.load(order)
    if lane is None:
        orders, rejects = where.typed("show", order), where.typed("rejects")
        raise Declined(f"no event of order {order} has come to stack {where.stack}; see {orders} or {rejects}")
    following = kept_at(connection.lanes, lane, lane.last + 1) if lane.last < lane.highest else None
    return LaneSeen(lane, following, connection.trail.of(order))


def ask_lane(
    where: Where, connection: Connection, before: LaneSeen, command: LaneCommand, *, wait: bool, as_json: bool
) -> None:
    """Send `command`, unless it cannot work, and tell what came of it; raises Declined with what to do instead."""
    order = command.order_id
    if refused := lane_refusal(connection.lanes, before.lane, command, where):
        raise Declined(refused)
    # A name of its own each time: what is asked again on purpose must not be taken for a repeated message.
    message = LaneMessage(order, f"operator/{command.asked}", encode_command(command))
    connection.lane_queue.send([message])
    place = _place(command, before.lane)
    Following(
        asked=_asked(command),
        order=order,
        whom=f"the lane of order {order}",
        what=NAMES[type(command)],
        hint=f"Look at it: {where.typed('convoy', 'show', order)}",
        about={"event": sequence_name(place) if place else None},
        seen=before,
        look=lambda: lane_of(where, connection, order),
        outcome=lambda seen: lane_outcome(command, before, seen),
        state=lambda seen: {"state": lane_state(seen.lane), "last": seen.lane.last},
    ).follow(connection.now, wait=wait, as_json=as_json)


def _asked(command: LaneCommand) -> Asked:
    event = "" if isinstance(command, RetryLane) else f"event {sequence_name(command.place)}"
    return asked(f"convoy {NAMES[type(command)]}", command, event)


def _words(command: LaneCommand, before: Lane, now: LaneSeen) -> str:
    place = _place(command, before)
    event = sequence_name(place) if place else ""
    blocked = now.lane.blocked
    again = isinstance(command, RetryLane) and blocked is not None and blocked.place == place
    what = f"Event {event} {_DONE[type(command)]}" if event else "The lane was told to go on"
    if again and blocked:
        return f"{what}, and stops the lane still: {blocked.reason}."
    return f"{what}; {standing(now.lane, now.following)}."


def _place(command: LaneCommand, lane: Lane) -> int:
    if isinstance(command, RetryLane):
        return lane.blocked.place if lane.blocked else 0
    return command.place
