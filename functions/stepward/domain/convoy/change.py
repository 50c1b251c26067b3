"""A lane's next revision in the making: an arriving event gets its position; the next is applied, others wait."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent, sequence_name
from stepward.domain.convoy.lane import (
    Blocked,
    Lane,
    LaneRules,
    advanced,
    refusal,
    settled,
    superseded,
    with_customer,
    with_offset,
)
from stepward.domain.convoy.needs import PAGE, Held, KeepRejects, Known, Perform, ReadEvent, ReadRows, Rejection
from stepward.domain.convoy.sequence import Fate, after_end, reception
from stepward.domain.errors import NotUnderstood, OtherCustomer, Transient
from stepward.domain.history import HistoryEntry, HistoryKind

MOST_HISTORY = 500
"""History entries of one change, so that a process that is cut short has not to begin at the beginning."""
MOST_ROWS = 60
MOST_ROW_BYTES = 128 * 1024
"""Rows that parked events add to one change: with those of a batch of arrivals they fit into one transaction of 100
items and 4 MB."""
RECENT_BYTES = 600
"""About so much of its newest events a lane keeps in its own record, so that this stays below 1 KB."""
LONGEST_RECENT = 1_000


@dataclass(slots=True)
class LaneChange:
    """What becomes of the lane `before`; nothing is read, written or performed here. Each method raises Missing."""

    before: Lane
    known: Known
    rules: LaneRules
    now: int
    lane: Lane = field(init=False)
    held: Held = field(init=False)
    history: list[HistoryEntry] = field(init=False, default_factory=list)
    rejections: list[Rejection] = field(init=False, default_factory=list)
    failure: Transient | None = field(init=False, default=None)
    """The error that the effect of the next event met."""
    more: bool = field(init=False, default=False)
    """Whether something is left for another change."""

    def __post_init__(self) -> None:
        self.lane, self.held = self.before, Held(self.before, self.known)

    def written(self) -> tuple[Lane, tuple[StoredEvent, ...]]:
        """The lane to write, `before` itself if nothing has changed, and the older events that leave its record."""
        held, fresh = self.held.recent, self.held.fresh
        full = sum(len(stored.event.body) for stored in held) > RECENT_BYTES
        older = self.before.recent if full and fresh else ()
        changed = replace(self.lane, recent=tuple(fresh if older else held))
        return settled(self.before, changed, self.rules, self.now, has_rows=bool(self.held.rows)), older

    def close(self) -> None:
        """Reject a page of the events parked behind the end, once the end is written and cannot move."""
        end = self.before.end
        if not end or self.lane.highest <= end:
            return
        why, page = after_end(self.before), self.known[ReadRows(max(end, self.before.cleared) + 1, PAGE)]
        if page:
            self.known[KeepRejects(tuple(Rejection(late.event, why, held_at=late.position) for late in page))]
        for late in page:
            self.log(HistoryKind.REJECTED, late.event.sequence or 0, why)
        if len(page) < PAGE:
            self.lane = replace(self.lane, highest=end, cleared=0)
        else:
            self.lane, self.more = replace(self.lane, cleared=page[-1].position), True

    def take(self, event: OrderEvent, message: int) -> None:
        """Give an arriving event its position, and apply it if it is next."""
        found = reception(self.lane, self.held, event)
        match found.fate:
            case Fate.DUPLICATE:
                self.log(HistoryKind.DUPLICATE, found.position, found.why)
            case Fate.REJECTED:
                self.reject(event, found.why, message)
            case Fate.UNSEQUENCED:
                self._keep_unsequenced(event, found.why)
            case Fate.PARKED:
                self._park(event, found.position)
                self.drain()
            case Fate.NEXT if other := self._other_customer(event):
                self.reject(event, other, message)
            case Fate.NEXT:
                if self.apply(StoredEvent(found.position, event), fresh=True):
                    self.lane = with_offset(with_customer(self.lane, event), event)
                self.drain()

    def drain(self) -> None:
        """Apply the parked events that are next."""
        while waiting := self._waiting():
            for stored in waiting:
                if not self.apply(stored) or self.lane.blocked or self.lane.end or self._is_full():
                    return

    def apply(self, stored: StoredEvent, *, fresh: bool = False) -> bool:
        """Apply the next event, or block the lane there; False if it has to be tried again later."""
        # A row is trusted, but a fault in it is judged by the application that is deployed now.
        event = stored.event if fresh or not stored.event.fault else self.known[ReadEvent(stored.event.body)]
        if event is not stored.event and event != stored.event:
            stored = self.held.rows[stored.position] = replace(stored, event=event)
        if reason := refusal(self.lane, event, self._target(event)):
            return self.block(stored, reason)
        if event.op in {Op.CREATE, Op.DELETE}:
            answer = self.known[Perform(event)]
            if isinstance(answer, Transient):
                return self._fail(stored, answer)
            if answer:
                return self.block(stored, str(answer))
        late = superseded(self.lane, event)
        self.go_past(replace(stored, skipped=late) if late else stored, fresh=fresh)
        return True

    def go_past(self, stored: StoredEvent, *, fresh: bool = False) -> None:
        """Go past the next position: its event is applied, or skipped."""
        position = stored.position
        if stored.skipped or (fresh and len(stored.event.body) > LONGEST_RECENT):
            self.held.rows[position] = stored
        elif fresh:
            self.held.fresh.append(stored)
        self.lane = advanced(self.lane, stored)
        self.log(HistoryKind.SKIPPED if stored.skipped else HistoryKind.APPLIED, position, stored.skipped)
        if self.lane.end == position:
            self.log(HistoryKind.ENDED, position)
            self.more = self.lane.highest > position

    def block(self, stored: StoredEvent, reason: str) -> bool:
        """Block the lane at an event until an operator acts."""
        again = self.before.blocked if self.before.blocked and self.before.blocked.position == stored.position else None
        self.held.rows[stored.position] = stored
        self.lane = replace(
            self.lane,
            blocked=Blocked(stored.position, reason, again.since if again else self.now),
            highest=max(self.lane.highest, stored.position),
            attempts=0,
        )
        self.log(HistoryKind.BLOCKED, stored.position, reason)
        return True

    def stop_at_unsequenced(self, reason: str = "it has no position in the lane") -> None:
        """Block the lane at the first unsequenced event, unless it is blocked already."""
        if not self.lane.unsequenced or self.lane.blocked:
            return
        position = self.lane.unsequenced[0]
        self.lane = replace(self.lane, blocked=Blocked(position, reason, self.now))
        self.log(HistoryKind.BLOCKED, position, reason)

    def reject(self, event: OrderEvent, why: str, message: int = 0) -> None:
        """Reject an event; it is kept where an operator finds it."""
        self.rejections.append(Rejection(event, why, message))
        self.log(HistoryKind.REJECTED, event.sequence or 0, why)

    def log(self, kind: HistoryKind, position: int, note: str = "") -> None:
        """Add a history entry."""
        step = f"event {sequence_name(position)}" if position else ""
        self.history.append(HistoryEntry(self.now, kind, step, note=note))

    def _other_customer(self, event: OrderEvent) -> str:
        """Why a create is another customer's: the order came before, by another way than its lane; "" if it is not."""
        if event.op is not Op.CREATE or refusal(self.lane, event, None):
            return ""
        answer = self.known[Perform(event)]
        return str(answer) if isinstance(answer, OtherCustomer) else ""

    def _park(self, event: OrderEvent, position: int) -> None:
        self.held.rows[position] = StoredEvent(position, event)
        lane = with_customer(self.lane, event)
        self.lane = with_offset(replace(lane, highest=max(lane.highest, position)), event)
        self.log(HistoryKind.PARKED, position)

    def _keep_unsequenced(self, event: OrderEvent, why: str) -> None:
        position = -(self.lane.unsequenced_seen + 1)
        self.held.rows[position] = StoredEvent(position, event)
        unsequenced = (*self.lane.unsequenced, position)
        self.lane = with_customer(replace(self.lane, unsequenced_seen=-position, unsequenced=unsequenced), event)
        self.stop_at_unsequenced(why)

    def _waiting(self) -> list[StoredEvent]:
        """The parked events that follow the last applied one without a gap, as far as one page and one change reach."""
        if not self.lane.goes_on or self.lane.blocked or self.failure or self._is_full():
            return []
        first = self.lane.last + 1
        found = {stored.position: stored for stored in self.known[ReadRows(first, PAGE)]} | self.held.rows
        return [found[position] for position in takewhile(found.__contains__, range(first, first + PAGE))]

    def _is_full(self) -> bool:
        """Whether the events that still wait are left for another change."""
        rows = self.held.rows
        weight = sum(len(stored.event.body) for stored in rows.values())
        full = len(self.history) > MOST_HISTORY or len(rows) > MOST_ROWS or weight > MOST_ROW_BYTES
        self.more = self.more or (full and self.lane.last < self.lane.highest)
        return self.more

    def _target(self, event: OrderEvent) -> StoredEvent | None:
        return self.held.at(event.modifies) if event.modifies and event.modifies <= self.lane.last else None

    def _fail(self, stored: StoredEvent, error: Transient) -> bool:
        attempts = self.lane.attempts + (not isinstance(error, NotUnderstood))
        if attempts >= self.rules.attempts:
            return self.block(stored, f"it failed {attempts} times; the last error: {error}")
        self.failure = error
        self.lane = replace(self.lane, attempts=attempts)
        return False
