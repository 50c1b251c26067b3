"""What a lane holds, and what is to become of an event that arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stepward.domain.convoy.event import OrderEvent, StoredEvent, sequence_name
from stepward.domain.convoy.lane import MOST_UNSEQUENCED, Lane, Turn, is_repeated, position_for, turn
from stepward.domain.convoy.needs import Known, ReadRows

PAGE = 50
MOST_LOOKED_BACK = 1_000
"""Places among which a repeated entry is looked for; one that is older counts as new, and an operator decides."""


class Fate(Enum):
    """What becomes of an arriving event."""

    NEXT = "next"
    PARKED = "parked"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    UNSEQUENCED = "unsequenced"


@dataclass(frozen=True, slots=True)
class Reception:
    """What becomes of an event at `place` (0: it has none), and why."""

    fate: Fate
    position: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What a lane holds: in its record, in rows, and of the change in the making: new `rows` and `fresh` events."""

    before: Lane
    known: Known
    rows: dict[int, StoredEvent] = field(default_factory=dict)
    fresh: list[StoredEvent] = field(default_factory=list)

    @property
    def recent(self) -> list[StoredEvent]:
        """The newest events, which have no row."""
        return [*self.before.recent, *self.fresh]

    def at(self, position: int) -> StoredEvent | None:
        """What stands at a place."""
        if position in self.rows:
            return self.rows[position]
        inline = next((stored for stored in self.recent if stored.position == position), None)
        return inline or next(
            (stored for stored in self.known[ReadRows(position, 1)] if stored.position == position), None
        )

    def has_entry(self, event: OrderEvent, highest: int) -> bool:
        """Whether this entry of its ledger is among the newest places."""
        entry, first = (event.ledger_id, event.index), max(1, highest - MOST_LOOKED_BACK)
        held = [*self.rows.values(), *self.recent]
        while not any((stored.event.ledger_id, stored.event.index) == entry for stored in held):
            held = list(self.known[ReadRows(first, PAGE)])
            if not held:
                return False
            first = held[-1].position + 1
        return True


def reception(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """What becomes of an arriving event; raises Missing."""
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
        case stands:
            waiting = held.at(position) if position <= lane.highest else None
            if waiting is not None:
                return _compared(event, position, waiting)
            return Reception(Fate.NEXT if stands is Turn.NEXT else Fate.PARKED, position)


def after_end(lane: Lane) -> str:
    """Why nothing is taken behind the end of a lane."""
    return f"sequence: the order was ended at {lane.end}; nothing comes after it"


def _repeated(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """Without sequence numbers: the event has come before, or later entries of its ledger have."""
    entry = f"entry {event.index} of ledger {event.ledger_id}"
    if held.has_entry(event, lane.highest):
        return Reception(Fate.DUPLICATE, 0, f"{entry} came before")
    return _unsequenced(lane, held, event, f"index: {entry} comes after later entries")


def _compared(event: OrderEvent, position: int, known: StoredEvent | None) -> Reception:
    if known is None or known.event.digest == event.digest:
        return Reception(Fate.DUPLICATE, position)
    happened = f"was passed over: {known.skipped}" if known.skipped else "came before with other content"
    return Reception(Fate.REJECTED, position, f"sequence: {sequence_name(position)} {happened}")


def _unsequenced(lane: Lane, held: Held, event: OrderEvent, why: str) -> Reception:
    earlier = (held.at(-number) for number in range(1, lane.unsequenced_seen + 1))
    if any(known and known.event.digest == event.digest for known in earlier):
        return Reception(Fate.DUPLICATE, 0, "an event without a usable sequence")
    if lane.unsequenced_seen == MOST_UNSEQUENCED or lane.end:
        return Reception(Fate.REJECTED, 0, why)
    return Reception(Fate.UNSEQUENCED, 0, why)
