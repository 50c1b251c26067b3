"""One change of a lane in the making: what arrives is placed, what is next is applied, the rest waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from stepward.app.effects import Effects
from stepward.app.intake import Received
from stepward.domain.errors import Transient, Unreadable
from stepward.domain.facts import Fact, FactKind
from stepward.domain.lane import (
    MOST_STRAYS,
    Blocked,
    Lane,
    LaneRules,
    Place,
    advanced,
    is_repeated,
    marked,
    overtaken,
    placed,
    refusal,
    settled,
    standing,
)
from stepward.domain.order_event import Kept, Op, OrderEvent, sequence_name
from stepward.domain.rejects import Reject
from stepward.ports import Lanes, Rejects

PAGE = 50
MOST_FACTS = 500
"""So much may happen in one change, so that one that is cut short has not to begin at the beginning."""
MOST_ROWS = 60
MOST_ROW_BYTES = 128 * 1024
"""What was waiting adds no more rows than this to one change: with those of a batch of arrivals, all of them fit into
one transaction of 100 items and 4 MB."""
MOST_LOOKED_BACK = 1_000
"""Places among which a repeated entry is looked for; one that is older counts as new, and an operator decides."""
RECENT_BYTES = 600
"""A lane keeps about so much of its newest events within its own record, so that this stays below 1 KB."""
LONGEST_RECENT = 1_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event with the message that brought it."""

    received: Received
    event: OrderEvent


@dataclass(slots=True)
class LaneWork:
    """What becomes of the lane `before`; nothing is written until it is saved."""

    before: Lane
    lanes: Lanes
    effects: Effects
    rejects: Rejects
    rules: LaneRules
    now: int
    lane: Lane = field(init=False)
    rows: dict[int, Kept] = field(init=False, default_factory=dict)
    fresh: list[Kept] = field(init=False, default_factory=list)
    facts: list[Fact] = field(init=False, default_factory=list)
    failure: Transient | None = field(init=False, default=None)
    """What kept the next event from having its effect, for now."""
    more: bool = field(init=False, default=False)
    """Whether events that have their turn are left for another change."""

    def __post_init__(self) -> None:
        self.lane = self.before

    def save(self) -> Lane | None:
        """Write what has become of the lane; the lane as it is then, or None if somebody was faster."""
        held = [*self.before.recent, *self.fresh]
        full = sum(len(kept.event.body) for kept in held) > RECENT_BYTES
        older = self.before.recent if full and self.fresh else ()
        recent = tuple(self.fresh) if older else tuple(held)
        changed = replace(self.lane, recent=recent)
        lane = settled(self.before, changed, self.rules, self.now, has_rows=bool(self.rows))
        if lane is self.before:
            return lane
        saved = self.lanes.save(lane, replaces=self.before, rows=list(self.rows.values()), older=older)
        return lane if saved else None

    def take(self, arrival: Arrival) -> None:
        """Give an arriving event its place, and apply it if it is its turn."""
        event = arrival.event
        if is_repeated(self.lane, event):
            self._repeat(arrival)
            return
        place = placed(self.lane, event)
        match standing(self.lane, place):
            case Place.NOWHERE:
                self._keep_stray(arrival)
            case Place.AFTER_END:
                note = f"the order was ended at {self.lane.end}; nothing comes after it"
                self.reject(arrival.received, event, f"sequence: {note}")
            case Place.EARLIER:
                self._compare(arrival, place, self.kept(place))
            case stands:
                self._take_in(arrival, place, stands)

    def _repeat(self, arrival: Arrival) -> None:
        """Without sequence numbers: the event has come before, or what its ledger says later has overtaken it."""
        event, entry = arrival.event, f"entry {arrival.event.index} of ledger {arrival.event.ledger_id}"
        if self._holds(event):
            self.tell(FactKind.DUPLICATE, 0, f"{entry} came before")
        else:
            self._keep_stray(arrival, f"index: {entry} comes after later entries")

    def _holds(self, event: OrderEvent) -> bool:
        """Whether this entry of its ledger is among the newest places."""
        entry, first = (event.ledger_id, event.index), max(1, self.lane.highest - MOST_LOOKED_BACK)
        held = [*self.rows.values(), *self.before.recent, *self.fresh]
        while not any((kept.event.ledger_id, kept.event.index) == entry for kept in held):
            held = list(self.lanes.rows(self.lane.order_id, first, PAGE))
            if not held:
                return False
            first = held[-1].place + 1
        return True

    def _take_in(self, arrival: Arrival, place: int, stands: Place) -> None:
        event = arrival.event
        waiting = self.kept(place) if place <= self.lane.highest else None
        if waiting is not None:
            self._compare(arrival, place, waiting)
        elif stands is Place.NEXT:
            if self.apply(Kept(place, event), fresh=True):
                self.lane = marked(self.lane, event)
        else:
            self.rows[place] = Kept(place, event)
            self.lane = marked(replace(self.lane, highest=max(self.lane.highest, place)), event)
            self.tell(FactKind.PARKED, place)
        self.drain()

    def drain(self) -> None:
        """Apply the events that wait for nothing any more."""
        while waiting := self._waiting():
            for kept in waiting:
                if not self.apply(kept) or self.lane.blocked or self.lane.end or self._is_full():
                    return

    def apply(self, kept: Kept, *, fresh: bool = False) -> bool:
        """Have the effect of the next event, or stop the lane there; False if it has to be tried again later."""
        event = kept.event
        if reason := refusal(self.lane, event, self._target(event)):
            return self.block(kept, reason)
        try:
            if event.op in {Op.CREATE, Op.DELETE} and (reason := self.effects.have(event)):
                return self.block(kept, reason)
        except Transient as error:
            return self._fail(kept, error)
        except Unreadable as error:
            return self.block(kept, f"the order's task cannot be read: {error}")
        self.pass_by(replace(kept, passed_over=overtaken(self.lane, event)), fresh=fresh)
        return True

    def pass_by(self, kept: Kept, *, fresh: bool = False) -> None:
        """Go past the next place: its event is applied, or passed over."""
        place = kept.place
        if kept.passed_over or (fresh and len(kept.event.body) > LONGEST_RECENT):
            self.rows[place] = kept
        elif fresh:
            self.fresh.append(kept)
        self.lane = advanced(self.lane, kept)
        self.tell(FactKind.PASSED_OVER if kept.passed_over else FactKind.APPLIED, place, kept.passed_over)
        if self.lane.end == place:
            self._end()

    def block(self, kept: Kept, reason: str) -> bool:
        """Stop the lane at an event until an operator acts."""
        again = self.before.blocked if self.before.blocked and self.before.blocked.place == kept.place else None
        self.rows[kept.place] = kept
        self.lane = replace(
            self.lane,
            blocked=Blocked(kept.place, reason, again.since if again else self.now),
            highest=max(self.lane.highest, kept.place),
            attempts=0,
        )
        self.tell(FactKind.BLOCKED, kept.place, reason)
        return True

    def kept(self, place: int) -> Kept | None:
        """What the lane holds at a place."""
        found = self.rows.get(place)
        inline = [*self.before.recent, *self.fresh]
        return found or next((kept for kept in inline if kept.place == place), None) or self._read(place)

    def _waiting(self) -> list[Kept]:
        """The events that follow the last applied one without a gap, as far as one page and one change reach."""
        stands = self.lane.last >= self.lane.highest or self.lane.blocked or self.failure
        if stands or self._is_full():
            return []
        first = self.lane.last + 1
        found = {kept.place: kept for kept in self.lanes.rows(self.lane.order_id, first, PAGE)} | self.rows
        return [found[place] for place in takewhile(found.__contains__, range(first, first + PAGE))]

    def _is_full(self) -> bool:
        """Whether what still waits has to be left for another change."""
        weight = sum(len(kept.event.body) for kept in self.rows.values())
        full = len(self.facts) > MOST_FACTS or len(self.rows) > MOST_ROWS or weight > MOST_ROW_BYTES
        self.more = self.more or (full and self.lane.last < self.lane.highest)
        return self.more

    def _read(self, place: int) -> Kept | None:
        found = self.lanes.rows(self.lane.order_id, place, 1)
        return found[0] if found and found[0].place == place else None

    def _target(self, event: OrderEvent) -> Kept | None:
        return self.kept(event.modifies) if event.modifies and event.modifies <= self.lane.last else None

    def _fail(self, kept: Kept, error: Transient) -> bool:
        attempts = self.lane.attempts + 1
        if attempts >= self.rules.attempts:
            return self.block(kept, f"it failed {attempts} times, the last time so: {error}")
        self.failure = error
        self.lane = replace(self.lane, attempts=attempts)
        return False

    def _compare(self, arrival: Arrival, place: int, known: Kept | None) -> None:
        event = arrival.event
        if known is None or known.event.digest == event.digest:
            self.tell(FactKind.DUPLICATE, place)
            return
        happened = f"was passed over: {known.passed_over}" if known.passed_over else "came before with other content"
        self.reject(arrival.received, event, f"sequence: {sequence_name(place)} {happened}")

    def _keep_stray(self, arrival: Arrival, why: str = "") -> None:
        event = arrival.event
        if any(
            (known := self.kept(-number)) and known.event.digest == event.digest
            for number in range(1, self.lane.strays + 1)
        ):
            self.tell(FactKind.DUPLICATE, 0, "an event without a usable sequence")
            return
        missing = "sequence" if self.lane.sequenced else "ledgerId"
        reason = why or event.fault or f"{missing}: is missing"
        if self.lane.strays == MOST_STRAYS or self.lane.end:
            self.reject(arrival.received, event, reason)
            return
        place = -(self.lane.strays + 1)
        self.rows[place] = Kept(place, event)
        self.lane = replace(self.lane, strays=-place, unplaced=(*self.lane.unplaced, place))
        self.stop_at_stray(reason)

    def stop_at_stray(self, reason: str = "it has no place in the lane") -> None:
        """Stop the lane at the first event that nobody can place, unless it has stopped already."""
        if not self.lane.unplaced or self.lane.blocked:
            return
        place = self.lane.unplaced[0]
        self.lane = replace(self.lane, blocked=Blocked(place, reason, self.now))
        self.tell(FactKind.BLOCKED, place, reason)

    def _end(self) -> None:
        """Close the lane; what had come for places behind its end is kept among the rejects."""
        end = self.lane.end
        self.tell(FactKind.ENDED, end)
        for late in self._behind(end):
            source = Received(f"{self.lane.order_id}/{late.place}", "the order's lane", self.before.touched_at, "")
            self.reject(source, late.event, f"sequence: the order was ended at {end}; nothing comes after it")
        self.lane = replace(self.lane, highest=end)

    def _behind(self, end: int) -> Iterator[Kept]:
        yield from (kept for place, kept in self.rows.items() if place > end)
        first = end + 1
        while found := self.lanes.rows(self.lane.order_id, first, PAGE):
            yield from found
            first = found[-1].place + 1

    def reject(self, received: Received, event: OrderEvent, why: str) -> None:
        """Keep an event that the lane cannot take where an operator finds it; `why` is its field and the reason."""
        name, _, reason = why.partition(": ")
        self.rejects.keep(
            Reject(
                message_id=received.message_id,
                source=received.source,
                received_at=received.received_at,
                field=name,
                reason=reason,
                body=event.body,
                order_id=event.order_id,
            )
        )
        self.tell(FactKind.REJECTED, event.sequence or 0, why)

    def tell(self, kind: FactKind, place: int, note: str = "") -> None:
        """Note a fact of the lane."""
        step = f"event {sequence_name(place)}" if place else ""
        self.facts.append(Fact(self.now, kind, step, note=note))
