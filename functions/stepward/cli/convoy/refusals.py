"""What an operator asks of a lane in vain: the lane's own decision, run dry, and what to do instead."""

from __future__ import annotations

from stepward.app.convoy.dry_run import dry_run, read_event
from stepward.cli.deployment.options import Target
from stepward.cli.user_error import UserError
from stepward.domain.convoy.apply_command import LaneRefusal, LaneRefusalCode, misplaced, refused
from stepward.domain.convoy.commands import LaneCommand, RetryLane
from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.ports import Lanes
from stepward.wire.order_event import stored_event

_WORDS = {
    LaneRefusalCode.NOTHING_TO_RETRY: "no event stops the lane of {order}; there is nothing to try again. {look}",
    LaneRefusalCode.UNSEQUENCED: "{text}. {look}",
    LaneRefusalCode.ANOTHER_STOPS: "{text}. {look}",
    LaneRefusalCode.BEHIND: "event {event} of {order} is behind the lane: it was applied, or passed over. {look}",
    LaneRefusalCode.ANOTHER_IS_MISSING: "the lane of {order} waits for event {missing}, not for {event}",
    LaneRefusalCode.NOT_AWAITED: "the lane of {order} does not wait for event {event}. {look}",
    LaneRefusalCode.NOT_VALID: "{text}",
    LaneRefusalCode.OTHER_ORDER: "{text}, not of {order}",
    LaneRefusalCode.NO_SEQUENCE: "the new event has no sequence; the lane of this order goes by sequence numbers",
    LaneRefusalCode.OTHER_SEQUENCE: "{text}, to stand in its place",
}


def lane_refusal(lanes: Lanes, lane: Lane, command: LaneCommand, target: Target) -> str:
    """Why nothing would come of `command`, and what to do instead; "" if it would. Raises Transient or Unreadable."""
    refusal = dry_run(lanes, lane, stored_event, lambda held: refused(lane, held, command))
    if refusal is None:
        return ""
    position = 0 if isinstance(command, RetryLane) else command.position
    return _told(refusal, lane, position, f"Look at it: {target.typed('convoy', 'show', lane.order_id)}")


def replacement(lane: Lane, position: int, text: str) -> str:
    """The event to take in place of the one at `place`, as it is sent; raises Declined if it cannot be taken."""
    event = read_event(stored_event, text)
    if refusal := misplaced(lane, position, event):
        raise UserError(_told(refusal, lane, position, ""))
    return event.body


def _told(refusal: LaneRefusal, lane: Lane, position: int, look: str) -> str:
    return _WORDS[refusal.code].format(
        text=refusal.text, order=lane.order_id, event=sequence_name(position), missing=lane.last + 1, look=look
    )
