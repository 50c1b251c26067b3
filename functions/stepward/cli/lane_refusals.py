"""What an operator asks of a lane in vain, and what to do instead."""

from __future__ import annotations

from stepward.cli.user_error import Declined
from stepward.cli.where import Where
from stepward.domain.errors import Rejected
from stepward.domain.lane import Lane
from stepward.domain.lane_commands import LaneCommand, RetryLane
from stepward.domain.order_event import Kept, sequence_name
from stepward.wire.order_event import kept_event


def lane_refusal(lane: Lane, following: Kept | None, command: LaneCommand, where: Where) -> str:
    """Why nothing would come of `command`, and what to do instead; "" if it would.

    `following` is the event after the last applied one, if it has come.
    """
    if isinstance(command, RetryLane):
        return _no_retry(lane, following, where)
    return _not_in_the_way(lane, command.place, following, where)


def replacement(lane: Lane, place: int, text: str) -> str:
    """The event to take in place of the one at `place`, as it is sent; raises Declined if it cannot be taken."""
    try:
        event = kept_event(text)
    except Rejected as fault:
        raise Declined(f"the new event is not valid: {fault}") from fault
    if event.fault:
        raise Declined(f"the new event is not valid: {event.fault}")
    if event.order_id != lane.order_id:
        raise Declined(f"the new event is of order {event.order_id}, not of {lane.order_id}")
    if lane.sequenced and event.sequence is None:
        raise Declined("the new event has no sequence; the lane of this order goes by sequence numbers")
    if lane.sequenced and place > 0 and event.sequence != place:
        raise Declined(f"the new event has the sequence {event.sequence}; it has to be {place}, to stand in its place")
    return event.body


def _no_retry(lane: Lane, following: Kept | None, where: Where) -> str:
    blocked = lane.blocked
    if blocked is None and following is None:
        return f"no event stops the lane of {lane.order_id}; there is nothing to try again. {_look(lane, where)}"
    return ""


def _not_in_the_way(lane: Lane, place: int, following: Kept | None, where: Where) -> str:
    event, order = sequence_name(place), lane.order_id
    if lane.blocked:
        stops = sequence_name(lane.blocked.place)
        if lane.blocked.place == place:
            return ""
        return f"event {event} does not stop the lane of {order}; event {stops} does. {_look(lane, where)}"
    if 0 < place <= lane.last:
        return f"event {event} of {order} is behind the lane: it was applied, or passed over. {_look(lane, where)}"
    if lane.last < lane.highest and following is None:
        missing = lane.last + 1
        return "" if place == missing else f"the lane of {order} waits for event {missing}, not for {event}"
    return f"the lane of {order} does not wait for event {event}. {_look(lane, where)}"


def _look(lane: Lane, where: Where) -> str:
    return f"Look at it: {where.typed('convoy', 'show', lane.order_id)}"
