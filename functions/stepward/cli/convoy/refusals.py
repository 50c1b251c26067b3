"""Why a lane would refuse a command, from a dry run of its own decision, and what to do instead."""

from __future__ import annotations

from functools import partial

from stepward.app.convoy.dry_run import dry_run, read_event
from stepward.cli.deployment.options import Target
from stepward.cli.user_error import UserError
from stepward.domain.convoy.apply_command import LaneRefusal, LaneRefusalCode, misplaced, refused
from stepward.domain.convoy.commands import LaneCommand, RetryLane
from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.key import ANY, Keys, spoken
from stepward.ports import Lanes
from stepward.wire.order_event import stored_event

_WORDS = {
    LaneRefusalCode.NOTHING_TO_RETRY: "no event stops the lane of {order}; there is nothing to try again. {look}",
    LaneRefusalCode.UNSEQUENCED: "{text}. {look}",
    LaneRefusalCode.ANOTHER_STOPS: "{text}. {look}",
    LaneRefusalCode.BEHIND: "event {event} of {order} is behind the lane: it was applied or skipped. {look}",
    LaneRefusalCode.ANOTHER_IS_MISSING: "the lane of {order} waits for event {missing}, not for {event}",
    LaneRefusalCode.NOT_AWAITED: "the lane of {order} does not wait for event {event}. {look}",
    LaneRefusalCode.NOT_VALID: "{text}",
    LaneRefusalCode.OTHER_ORDER: "{text}, not of {order}",
    LaneRefusalCode.OTHER_CUSTOMER: "{text}",
    LaneRefusalCode.NO_SEQUENCE: "the new event has no sequence; the lane of this order goes by sequence numbers",
    LaneRefusalCode.OTHER_SEQUENCE: "{text}, to replace that event",
}


def lane_refusal(lanes: Lanes, lane: Lane, command: LaneCommand, target: Target, keys: Keys = ANY) -> str:
    """Why the lane would refuse `command`, and what to do instead; "" if it would not. Raises Transient or Corrupt."""
    refusal = dry_run(lanes, lane, partial(stored_event, keys=keys), lambda held: refused(lane, held, command))
    if refusal is None:
        return ""
    position = 0 if isinstance(command, RetryLane) else command.position
    return _words(refusal, lane, position, f"To see the lane: {target.typed('convoy', 'show', lane.order_id)}")


def replacement(lane: Lane, position: int, text: str, keys: Keys = ANY) -> str:
    """The body of the event that replaces the one at `position`; raises UserError if it cannot replace it."""
    event = read_event(partial(stored_event, keys=keys), text)
    if refusal := misplaced(lane, position, event):
        raise UserError(_words(refusal, lane, position, ""))
    return event.body


def _words(refusal: LaneRefusal, lane: Lane, position: int, look: str) -> str:
    return _WORDS[refusal.code].format(
        text=refusal.text, order=spoken(lane.order_id), event=sequence_name(position), missing=lane.last + 1, look=look
    )
