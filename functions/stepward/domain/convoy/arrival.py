"""What a lane holds, and what is to become of an event that arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stepward.domain.convoy.event import Kept, OrderEvent, sequence_name
from stepward.domain.convoy.lane import MOST_STRAYS, Lane, Place, is_repeated, placed, standing
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
    place: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What a lane holds: in its record, in rows, and of the change in the making: new `rows` and `fresh` events."""

    before: Lane
    known: Known
    rows: dict[int, Kept] = field(default_factory=dict)
    fresh: list[Kept] = field(default_factory=list)

    @property
    def recent(self) -> list[Kept]:
        """The newest events, which have no row."""
        return [*self.before.recent, *self.fresh]

    def at(self, place: int) -> Kept | None:
        """What stands at a place."""
        if place in self.rows:
            return self.rows[place]
        inline = next((kept for kept in self.recent if kept.place == place), None)
        return inline or next((kept for kept in self.known[ReadRows(place, 1)] if kept.place == place), None)

    def has_entry(self, event: OrderEvent, highest: int) -> bool:
        """Whether this entry of its ledger is among the newest places."""
        entry, first = (event.ledger_id, event.index), max(1, highest - MOST_LOOKED_BACK)
        held = [*self.rows.values(), *self.recent]
        while not any((kept.event.ledger_id, kept.event.index) == entry for kept in held):
            held = list(self.known[ReadRows(first, PAGE)])
            if not held:
                return False
            first = held[-1].place + 1
        return True


def reception(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """What becomes of an arriving event; raises Missing."""
    if is_repeated(lane, event):
        return _repeated(lane, held, event)
    place = placed(lane, event)
    match standing(lane, place):
        case Place.NOWHERE:
            missing = "sequence" if lane.sequenced else "ledgerId"
            return _unsequenced(lane, held, event, event.fault or f"{missing}: is missing")
        case Place.AFTER_END:
            return Reception(Fate.REJECTED, place, after_end(lane))
        case Place.EARLIER:
            return _compared(event, place, held.at(place))
        case stands:
            waiting = held.at(place) if place <= lane.highest else None
            if waiting is not None:
                return _compared(event, place, waiting)
            return Reception(Fate.NEXT if stands is Place.NEXT else Fate.PARKED, place)


def after_end(lane: Lane) -> str:
    """Why nothing is taken behind the end of a lane."""
    return f"sequence: the order was ended at {lane.end}; nothing comes after it"


def _repeated(lane: Lane, held: Held, event: OrderEvent) -> Reception:
    """Without sequence numbers: the event has come before, or later entries of its ledger have."""
    entry = f"entry {event.index} of ledger {event.ledger_id}"
    if held.has_entry(event, lane.highest):
        return Reception(Fate.DUPLICATE, 0, f"{entry} came before")
    return _unsequenced(lane, held, event, f"index: {entry} comes after later entries")


def _compared(event: OrderEvent, place: int, known: Kept | None) -> Reception:
    if known is None or known.event.digest == event.digest:
        return Reception(Fate.DUPLICATE, place)
    happened = f"was passed over: {known.passed_over}" if known.passed_over else "came before with other content"
    return Reception(Fate.REJECTED, place, f"sequence: {sequence_name(place)} {happened}")


def _unsequenced(lane: Lane, held: Held, event: OrderEvent, why: str) -> Reception:
    earlier = (held.at(-number) for number in range(1, lane.strays + 1))
    if any(known and known.event.digest == event.digest for known in earlier):
        return Reception(Fate.DUPLICATE, 0, "an event without a usable sequence")
    if lane.strays == MOST_STRAYS or lane.end:
        return Reception(Fate.REJECTED, 0, why)
    return Reception(Fate.UNSEQUENCED, 0, why)
