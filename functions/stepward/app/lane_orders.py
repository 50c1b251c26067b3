"""What an operator's command makes of a lane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from stepward.app.intake import Received
from stepward.app.lane_work import Arrival, LaneWork
from stepward.domain.errors import Rejected
from stepward.domain.facts import FactKind
from stepward.domain.lane_commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.order_event import Kept, OrderEvent, sequence_name
from stepward.wire.order_event import event_of, unusable

Decode = Callable[[str], OrderEvent]


def obey(work: LaneWork, command: LaneCommand, received: Received, decode: Decode) -> str:
    """Do what is asked, and apply what waited for it; why it is refused, or empty.

    A command that comes a second time finds its name on the lane, and changes nothing more.
    """
    if work.lane.done == command.asked:
        work.drain()
        return ""
    match command:
        case RetryLane():
            refused = _retry(work, received)
        case SkipEvent():
            refused = _skip(work, command)
        case ReplaceEvent():
            refused = _replace(work, command, received, decode)
        case _:
            assert_never(command)
    if not refused:
        work.lane = replace(work.lane, done=command.asked)
        work.drain()
        work.stop_at_stray()
    return refused


def _retry(work: LaneWork, received: Received) -> str:
    blocked = work.lane.blocked
    if blocked is None:
        waits = work.lane.last < work.lane.highest and work.kept(work.lane.last + 1) is not None
        return "" if waits else "nothing to retry: no event stops the lane"
    kept = work.kept(blocked.place)
    if blocked.place < 0 and (kept is None or kept.event.sequence is None):
        name = sequence_name(blocked.place)
        return f"nothing to retry: event {name} has no usable sequence; replace it or skip it"
    work.tell(FactKind.RETRIED, blocked.place)
    if blocked.place < 0 and kept is not None:
        _resolve_stray(work, kept, "it has a usable sequence now")
        work.take(Arrival(received, kept.event))
    else:
        work.lane = replace(work.lane, blocked=None)
    return ""


def _skip(work: LaneWork, command: SkipEvent) -> str:
    if refused := _not_in_the_way(work, command.place):
        return refused
    kept = work.kept(command.place) or Kept(command.place, _never_came(command))
    why = f"skipped by {command.who}: {command.why}"
    if command.place < 0:
        _resolve_stray(work, kept, why)
    else:
        work.pass_by(replace(kept, passed_over=why))
    return ""


def _replace(work: LaneWork, command: ReplaceEvent, received: Received, decode: Decode) -> str:
    if refused := _not_in_the_way(work, command.place):
        return refused
    try:
        event = decode(command.body)
    except Rejected as error:
        return f"the new event is not valid: {error}"
    if refused := _misplaced(work, command, event):
        return refused
    work.tell(FactKind.REPLACED, command.place, command.why)
    before = work.kept(command.place)
    if command.place < 0 and before is not None:
        _resolve_stray(work, before, f"replaced by {command.who}: {command.why}")
        work.take(Arrival(received, event))
        return ""
    if before is not None:
        work.reject(received, before.event, f"sequence: replaced by {command.who}: {command.why}")
    work.rows[command.place] = Kept(command.place, event)
    work.lane = replace(work.lane, blocked=None)
    return ""


def _not_in_the_way(work: LaneWork, place: int) -> str:
    """Why the event at `place` is none that an operator may take away; empty if it stops the lane, or never came."""
    lane = work.lane
    name = sequence_name(place)
    if lane.blocked:
        stops = sequence_name(lane.blocked.place)
        return "" if lane.blocked.place == place else f"event {name} is not what stops the lane; event {stops} does"
    missing = place == lane.last + 1 and lane.last < lane.highest and work.kept(place) is None
    return "" if missing else f"event {name} is not what the lane waits for"


def _misplaced(work: LaneWork, command: ReplaceEvent, event: OrderEvent) -> str:
    if event.fault:
        return f"the new event is not valid: {event.fault}"
    if event.order_id != command.order_id:
        return f"the new event is of order {event.order_id}"
    if work.lane.sequenced and event.sequence is None:
        return "the new event is not valid: sequence: is missing"
    if work.lane.sequenced and command.place > 0 and event.sequence != command.place:
        return f"the new event has the sequence {event.sequence}; it has to be {command.place}"
    return ""


def _resolve_stray(work: LaneWork, kept: Kept, why: str) -> None:
    work.rows[kept.place] = replace(kept, passed_over=why)
    unplaced = tuple(place for place in work.lane.unplaced if place != kept.place)
    work.lane = replace(work.lane, blocked=None, unplaced=unplaced)
    work.tell(FactKind.PASSED_OVER, kept.place, why)


def _never_came(command: SkipEvent) -> OrderEvent:
    return event_of(unusable(command.order_id, command.place, Rejected("sequence", "it never came"), ""))
