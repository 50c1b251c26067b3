"""What an operator asks of a lane in vain: the lane's own decision, run dry, and what to do instead."""

from __future__ import annotations

from stepward.app.convoy.dry_run import dry_run, read_event
from stepward.cli.deployment.options import Where
from stepward.cli.user_error import Declined
from stepward.domain.convoy.apply_command import Refusal, RefusalCode, misplaced, refused
from stepward.domain.convoy.commands import LaneCommand, RetryLane
from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.ports import Lanes
from stepward.wire.order_event import kept_event

_WORDS = {
    RefusalCode.NOTHING_TO_RETRY: "no event stops the lane of {order}; there is nothing to try again. {look}",
    RefusalCode.UNSEQUENCED: "{text}. {look}",
    RefusalCode.ANOTHER_STOPS: "{text}. {look}",
    RefusalCode.BEHIND: "event {event} of {order} is behind the lane: it was applied, or passed over. {look}",
    RefusalCode.ANOTHER_IS_MISSING: "the lane of {order} waits for event {missing}, not for {event}",
    RefusalCode.NOT_AWAITED: "the lane of {order} does not wait for event {event}. {look}",
    RefusalCode.NOT_VALID: "{text}",
    RefusalCode.OTHER_ORDER: "{text}, not of {order}",
    RefusalCode.NO_SEQUENCE: "the new event has no sequence; the lane of this order goes by sequence numbers",
    RefusalCode.OTHER_SEQUENCE: "{text}, to stand in its place",
}


def lane_refusal(lanes: Lanes, lane: Lane, command: LaneCommand, where: Where) -> str:
    """Why nothing would come of `command`, and what to do instead; "" if it would. Raises Transient or Unreadable."""
    refusal = dry_run(lanes, lane, kept_event, lambda held: refused(lane, held, command))
    if refusal is None:
        return ""
    place = 0 if isinstance(command, RetryLane) else command.place
    return _told(refusal, lane, place, f"Look at it: {where.typed('convoy', 'show', lane.order_id)}")


def replacement(lane: Lane, place: int, text: str) -> str:
    """The event to take in place of the one at `place`, as it is sent; raises Declined if it cannot be taken."""
    event = read_event(kept_event, text)
    if refusal := misplaced(lane, place, event):
        raise Declined(_told(refusal, lane, place, ""))
    return event.body


def _told(refusal: Refusal, lane: Lane, place: int, look: str) -> str:
    return _WORDS[refusal.code].format(
        text=refusal.text, order=lane.order_id, event=sequence_name(place), missing=lane.last + 1, look=look
    )
