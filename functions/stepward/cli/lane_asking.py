"""Asking a lane for something: look first, send, and tell what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import TYPE_CHECKING, Any

import typer

from stepward.app.lane_history import kept_at
from stepward.app.trail import LONGEST_TEXT, Entry
from stepward.cli.lane_refusals import lane_refusal
from stepward.cli.lane_words import lane_state, standing
from stepward.cli.outcome import Outcome, awaited
from stepward.cli.terminal import complain, print_json, say
from stepward.cli.where import Declined, Where
from stepward.domain.lane import Lane
from stepward.domain.lane_commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.order_event import Kept, sequence_name
from stepward.ports import LaneMessage
from stepward.wire.lane import encode_command
from stepward.wire.plain import cleaned

if TYPE_CHECKING:
    from stepward.cli.connection import Connection

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
    asked = (f"convoy {NAMES[type(command)]}", cleaned(command.who, LONGEST_TEXT), cleaned(command.why, LONGEST_TEXT))
    fresh = [entry for entry in now.trail if entry not in before.trail]
    mine = next((entry for entry in reversed(fresh) if (entry.command, entry.who, entry.why) == asked), None)
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


def ask_lane(where: Where, connection: Connection, command: LaneCommand, *, wait: bool, as_json: bool) -> None:
    """Send `command`, unless it cannot work, and tell what came of it; raises Declined with what to do instead."""
    before = lane_of(where, connection, command.order_id)
    if refused := lane_refusal(connection.lanes, before.lane, command, where):
        raise Declined(refused)
    # A name of its own each time: what is asked again on purpose must not be taken for a repeated message.
    message = LaneMessage(command.order_id, f"operator/{command.asked}", encode_command(command))
    connection.lane_queue.send([message])
    asking = _Asking(where, connection, command, before)
    found = awaited(asking.look, connection.now, sleep) if wait else None
    if as_json:
        print_json(asking.document(found))
    else:
        asking.tell(found)
    if found and not found.applied:
        raise typer.Exit(1)


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


@dataclass(slots=True)
class _Asking:
    where: Where
    connection: Connection
    command: LaneCommand
    before: LaneSeen
    lane: Lane | None = None

    def look(self) -> Outcome | None:
        seen = lane_of(self.where, self.connection, self.command.order_id)
        self.lane = seen.lane
        return lane_outcome(self.command, self.before, seen)

    def tell(self, found: Outcome | None) -> None:
        look = f"Look at it: {self.where.typed('convoy', 'show', self.command.order_id)}"
        name, order = NAMES[type(self.command)], self.command.order_id
        if found is None:
            say(f"Asked the lane of order {order} to {name}. {look}")
        elif found.applied:
            say(f"{found.text} {look}")
        else:
            complain(f"the lane of order {order} refused to {name}: {found.text}. {look}")

    def document(self, found: Outcome | None) -> dict[str, Any]:
        command, lane = self.command, self.lane or self.before.lane
        place = _place(command, self.before.lane)
        ended = {True: "applied", False: "refused"}
        return {
            "command": f"convoy {NAMES[type(command)]}",
            "orderId": command.order_id,
            "event": sequence_name(place) if place else None,
            "who": cleaned(command.who, LONGEST_TEXT),
            "why": cleaned(command.why, LONGEST_TEXT),
            "outcome": ended[found.applied] if found else "asked",
            "text": found.text if found else None,
            "state": lane_state(lane),
            "last": lane.last,
        }
