"""The sequence check: whose turn an arriving event's position is, and what becomes of the event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.needs import Held
from stepward.domain.errors import OtherCustomer
from stepward.domain.key import check_customer

MOST_UNSEQUENCED = 20
"""Unsequenced events that a lane keeps. It is blocked by then, and rejects those that come later."""


class Turn(Enum):
    """How a position relates to the lane."""

    NEXT = "next"
    AHEAD = "ahead"
    EARLIER = "earlier"
    AFTER_END = "after the end"
    NOWHERE = "nowhere"


class Fate(Enum):
    """What becomes of an arriving event."""

    NEXT = "next"
    PARKED = "parked"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    UNSEQUENCED = "unsequenced"


@dataclass(frozen=True, slots=True)
class Reception:
    """What becomes of an event at `position` (0: it has none), and why."""

    fate: Fate
    position: int
    why: str = ""


def reception(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """What becomes of an arriving event; raises Missing. One of another customer than the lane's has no position."""
    try:
        check_customer(event.customer_id, lane.customer_id)
    except OtherCustomer as error:
        return Reception(Fate.REJECTED, 0, str(error))
    return _placed(lane, held, event)


def _placed(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    if is_repeated(lane, event):
        return _repeated(lane, held, event)
    position = position_for(lane, event)
    match turn(lane, position):
        case Turn.NOWHERE:
            missing = "sequence" if lane.sequenced else "ledgerId"
            return _unsequenced(lane, held, event, event.fault or f"{missing}: is missing")
        case Turn.AFTER_END:
            return Reception(Fate.REJECTED, position, after_end(lane))
        case Turn.EARLIER:
            return _compared(event, position, held.at(position))
        case found:
            parked = held.at(position) if position <= lane.highest else None
            if parked is not None:
                return _compared(event, position, parked)
            return Reception(Fate.NEXT if found is Turn.NEXT else Fate.PARKED, position)


def is_repeated(lane: Lane, event: OrderEvent) -> bool:
    """Whether a lane without sequence numbers has come past this entry of its ledger before."""
    return not lane.sequenced and event.ledger_id in lane.offsets and event.index <= lane.offsets[event.ledger_id]


def position_for(lane: Lane, event: OrderEvent) -> int:
    """The position of an arriving event; 0 if it has none.

    Without sequence numbers the queue's order counts, except that events before the create wait for it. An event that
    no ledger brought has no position there, for nothing would tell its second delivery from another event.
    """
    if lane.sequenced:
        return event.sequence or 0
    if not event.ledger_id:
        return 0
    if event.op is Op.CREATE and not lane.last:
        return 1
    return max(lane.highest, 1) + 1


def turn(lane: Lane, position: int) -> Turn:
    """How `position` relates to the lane."""
    if position == 0:
        return Turn.NOWHERE
    if position <= lane.last:
        return Turn.EARLIER
    if lane.end and position > lane.end:
        return Turn.AFTER_END
    return Turn.NEXT if position == lane.last + 1 and not lane.blocked else Turn.AHEAD


def after_end(lane: Lane) -> str:
    """Why nothing is accepted behind the end of a lane."""
    return f"sequence: the order was ended at {lane.end}; nothing comes after it"


def _repeated(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """Without sequence numbers: this entry has come before, or later entries of its ledger have."""
    entry = f"entry {event.index} of ledger {event.ledger_id}"
    if held.has_entry(event, lane.highest):
        return Reception(Fate.DUPLICATE, 0, f"{entry} came before")
    return _unsequenced(lane, held, event, f"index: {entry} comes after later entries")


def _compared(event: OrderEvent, position: int, known: StoredEvent | None) -> Reception:
    if known is None or known.event.digest == event.digest:
        return Reception(Fate.DUPLICATE, position)
    happened = f"was skipped: {known.skipped}" if known.skipped else "came before with other content"
    return Reception(Fate.REJECTED, position, f"sequence: {sequence_name(position)} {happened}")


def _unsequenced(lane: Lane, held: Held, event: OrderEvent, why: str) -> Reception:
    earlier = (held.at(-number) for number in range(1, lane.unsequenced_seen + 1))
    if any(known and known.event.digest == event.digest for known in earlier):
        return Reception(Fate.DUPLICATE, 0, "an event without a usable sequence")
    if lane.unsequenced_seen == MOST_UNSEQUENCED or lane.end:
        return Reception(Fate.REJECTED, 0, why)
    return Reception(Fate.UNSEQUENCED, 0, why)
