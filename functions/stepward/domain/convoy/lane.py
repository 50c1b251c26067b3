"""The lane of an order: which of its events are applied, which wait, and what stops it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent

MOST_OFFSETS = 20
"""Ledgers that a lane without sequence numbers remembers: an older one is known to its own record as done."""
MOST_UNSEQUENCED = 20
"""Events without a usable place that a lane keeps; the lane has stopped by then, and what comes more is rejected."""


@dataclass(frozen=True, slots=True)
class LaneRules:
    """What a deployment asks of its lanes. Times in milliseconds.

    `sequenced`: every event must carry a sequence number. A gap that stays open for `gap_within` is told to an
    operator; so is a lane that nobody ended and nothing reached for `idle_after` (0: never). An event that fails
    `attempts` times stops its lane. `tell_within`: how long the telling of an operator may take.
    """

    sequenced: bool = True
    gap_within: int = 900_000
    idle_after: int = 0
    attempts: int = 100
    alert_within: int = 60_000


@dataclass(frozen=True, slots=True)
class Blocked:
    """The lane stands still at `place`, `since` epoch ms, until an operator acts."""

    position: int
    reason: str
    since: int


class Alerted(Enum):
    """What an operator has to hear, or has heard, of a lane."""

    NOTHING = "nothing"
    BLOCKED = "blocked"
    GAP = "gap"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Lane:
    """How far an order's events have come. Times are epoch ms.

    Everything up to the place `last` is applied or was passed over by an operator, in order; `highest` is the highest
    place that anything has arrived for. `recent` holds those that have no row of their own yet. `sequenced` is False
    if the queue's order counts; then `marks` says how far into each ledger its events have come. `end` is the place of
    the last event there will be, `deleted` that of the cancellation; 0 before. `unsequenced_seen` counts the events that
    nobody can place, `unplaced` are those that still wait for an operator. `attempts` counts how often the next event
    has failed. `told` is what the operator has heard of the present trouble. `done` names the newest command that
    had its effect.
    """

    order_id: str
    revision: int = 0
    sequenced: bool = True
    last: int = 0
    highest: int = 0
    end: int = 0
    created: bool = False
    deleted: int = 0
    blocked: Blocked | None = None
    gap_since: int | None = None
    attempts: int = 0
    told: Alerted = Alerted.NOTHING
    recent: tuple[StoredEvent, ...] = ()
    offsets: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    unsequenced_seen: int = 0
    unsequenced: tuple[int, ...] = ()
    as_of: int | None = None
    touched_at: int = 0
    due: int | None = None
    done: str = ""

    @property
    def waiting(self) -> int:
        """How many places beyond the last applied one have been named so far."""
        return self.highest - self.last

    @property
    def goes_on(self) -> bool:
        """Whether anything has come for a place beyond the last applied one, and the end has not."""
        return self.last < self.highest and not self.end

    @property
    def needs_attention(self) -> int | None:
        """Since when an operator has to act (epoch ms); None if nobody has to."""
        if self.blocked:
            return self.blocked.since
        if self.told is Alerted.GAP and self.gap_since is not None:
            return self.gap_since
        return self.touched_at if self.told is Alerted.IDLE and not self.end else None


class Turn(Enum):
    """Where an arriving event stands to its lane."""

    NEXT = "next"
    AHEAD = "ahead"
    EARLIER = "earlier"
    AFTER_END = "after the end"
    NOWHERE = "nowhere"


def opened(order_id: str, first: OrderEvent | None, rules: LaneRules) -> Lane:
    """The lane of an order of which nothing has come before; its first event says whether numbers count."""
    numbered = rules.sequenced or (first is not None and first.sequence is not None)
    return Lane(order_id, sequenced=numbered)


def is_repeated(lane: Lane, event: OrderEvent) -> bool:
    """Whether, without sequence numbers, this entry of its ledger has come before."""
    return not lane.sequenced and event.ledger_id in lane.offsets and event.index <= lane.offsets[event.ledger_id]


def position_for(lane: Lane, event: OrderEvent) -> int:
    """The place of an arriving event; 0 if it has none.

    Without sequence numbers the queue's order counts, except that whatever comes before the create waits for it. An
    event that no ledger brought has no place there, for nothing would tell its second delivery from another event.
    """
    if lane.sequenced:
        return event.sequence or 0
    if not event.ledger_id:
        return 0
    if event.op is Op.CREATE and not lane.last:
        return 1
    return max(lane.highest, 1) + 1


def turn(lane: Lane, position: int) -> Turn:
    """How an event at `place` stands to its lane."""
    if position == 0:
        return Turn.NOWHERE
    if position <= lane.last:
        return Turn.EARLIER
    if lane.end and position > lane.end:
        return Turn.AFTER_END
    return Turn.NEXT if position == lane.last + 1 and not lane.blocked else Turn.AHEAD


def refusal(lane: Lane, event: OrderEvent, target: StoredEvent | None) -> str:
    """Why the lane's state does not let the event, which is its next, have its effect; empty if it does.

    `target` is what a modify changes, None if there is no such event.
    """
    if event.fault:
        return event.fault
    if not lane.sequenced and event.sequence is not None:
        return "sequence: the order's earlier events had none"
    if lane.deleted:
        return f"op: the order was cancelled at {lane.deleted}"
    if lane.created == (event.op is Op.CREATE):
        return "op: the order was created before" if lane.created else f"op: no create came before this {event.op}"
    return _refusal_of_target(event, target) if event.op is Op.MODIFY else ""


def _refusal_of_target(event: OrderEvent, target: StoredEvent | None) -> str:
    changeable = target and not target.skipped and target.event.op in {Op.CREATE, Op.ADD}
    return "" if changeable else f"modifies: {event.modifies} is no earlier create or add of this order"


def superseded(lane: Lane, event: OrderEvent) -> str:
    """Why a change without sequence number is too old to be applied: its source has told something newer.

    Nothing newer stands for what creates the order, adds to it or takes it back: that is applied however late it comes.
    """
    if lane.sequenced or event.as_of is None or lane.as_of is None or event.op is not Op.MODIFY:
        return ""
    return "asOf: something newer was applied before" if event.as_of < lane.as_of else ""


def advanced(lane: Lane, stored: StoredEvent) -> Lane:
    """The lane past its next place."""
    event, applies = stored.event, not stored.skipped
    ended = applies and event.end
    return replace(
        lane,
        last=stored.position,
        highest=max(lane.highest, stored.position),
        end=stored.position if ended else lane.end,
        created=lane.created or (applies and event.op is Op.CREATE),
        deleted=stored.position if applies and event.op is Op.DELETE else lane.deleted,
        as_of=max(filter(None, (lane.as_of, event.as_of)), default=None) if applies else lane.as_of,
        blocked=None,
        attempts=0,
    )


def with_offset(lane: Lane, event: OrderEvent) -> Lane:
    """The lane that remembers, without sequence numbers, that this entry of its ledger has come."""
    if lane.sequenced or not event.ledger_id:
        return lane
    others = [(name, index) for name, index in lane.offsets.items() if name != event.ledger_id]
    return replace(lane, offsets=dict([*others, (event.ledger_id, event.index)][-MOST_OFFSETS:]))


def settled(before: Lane, lane: Lane, rules: LaneRules, now: int, *, has_rows: bool = False) -> Lane:
    """The lane with its gap, its due time and its next revision; `before` itself if nothing has changed.

    With `has_rows` its rows have: whoever read the lane before them has to read it again.
    """
    if lane == before and not has_rows:
        return before
    has_gap = lane.last < lane.highest and not lane.blocked
    same_gap = has_gap and lane.last == before.last and before.gap_since is not None
    same_block = lane.blocked and before.blocked and lane.blocked.position == before.blocked.position
    lane = replace(
        lane,
        gap_since=(before.gap_since if same_gap else now) if has_gap else None,
        touched_at=now,
        told=before.told if same_block or same_gap else Alerted.NOTHING,
    )
    return _next(before, lane, rules)


def told(lane: Lane, what: Alerted, rules: LaneRules) -> Lane:
    """The lane of which an operator has now heard that."""
    return _next(lane, replace(lane, told=what), rules)


def _next(before: Lane, lane: Lane, rules: LaneRules) -> Lane:
    return replace(lane, due=due(lane, rules), revision=before.revision + 1)


def due(lane: Lane, rules: LaneRules) -> int | None:
    """When somebody has to look at the lane, if nothing else happens; None if never."""
    if lane.blocked:
        return None if lane.told is Alerted.BLOCKED else lane.blocked.since + rules.alert_within
    if lane.gap_since is not None:
        return None if lane.told is Alerted.GAP else lane.gap_since + rules.gap_within
    if lane.end or lane.deleted or not rules.idle_after or lane.told is Alerted.IDLE:
        return None
    return lane.touched_at + rules.idle_after


def owed(lane: Lane, rules: LaneRules, now: int) -> Alerted:
    """What an operator has to be told of the lane now, and has not been."""
    if lane.blocked:
        return Alerted.NOTHING if lane.told is Alerted.BLOCKED else Alerted.BLOCKED
    at = due(lane, rules)
    if at is None or at > now:
        return Alerted.NOTHING
    return Alerted.GAP if lane.gap_since is not None else Alerted.IDLE
