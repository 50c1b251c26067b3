"""The lane of an order: which of its events are applied, which wait, and what stops it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent

MOST_OFFSETS = 20
"""Ledgers whose offsets a lane without sequence numbers keeps; that an older one is done, its own record says."""
MOST_DONE = 8
"""Applied commands that a lane remembers, so that it knows one that comes again after others."""


@dataclass(frozen=True, slots=True)
class LaneRules:
    """What a deployment asks of its lanes. Times in milliseconds.

    `sequenced`: every event must carry a sequence number. An operator is alerted to a gap that stays open for
    `gap_within`, and to a lane without an end that nothing has reached for `idle_after` (0: never). An event that
    fails `attempts` times blocks its lane. An alert may take `alert_within` to go out.
    """

    sequenced: bool = True
    gap_within: int = 900_000
    idle_after: int = 0
    attempts: int = 100
    alert_within: int = 60_000


@dataclass(frozen=True, slots=True)
class Blocked:
    """The lane is stopped at `position`, `since` epoch ms, until an operator acts."""

    position: int
    reason: str
    since: int


class Alerted(Enum):
    """The trouble of a lane that an operator is, or has to be, alerted to."""

    NOTHING = "nothing"
    BLOCKED = "blocked"
    GAP = "gap"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Lane:
    """How far an order's events have come; `order_id` is the task's key. Times are epoch ms.

    Every event up to the position `last` is applied or skipped, in order; `highest` is the highest position that an
    event has arrived for. `recent` holds the events that have no row of their own yet. `sequenced` is False if the
    queue's order counts; then `offsets` says how far into each ledger its events have come. `end` is the position of
    the last event there will be, `deleted` that of the cancellation; 0 before. `unsequenced_seen` counts the
    unsequenced events, `unsequenced` are those that still wait for an operator. `attempts` counts how often the next
    event has failed. `alerted` is the trouble that an operator was alerted to. `done` names the newest commands that
    were applied, oldest first. `customer_id` is the customer of the first event that named one: the order is theirs.
    Of what is parked behind the end, all up to `cleared` is kept as rejects; 0 before, and once all of it is.
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
    alerted: Alerted = Alerted.NOTHING
    recent: tuple[StoredEvent, ...] = ()
    offsets: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    unsequenced_seen: int = 0
    unsequenced: tuple[int, ...] = ()
    as_of: int | None = None
    touched_at: int = 0
    due: int | None = None
    done: tuple[str, ...] = ()
    customer_id: str = ""
    cleared: int = 0

    @property
    def waiting(self) -> int:
        """The number of positions between the last applied one and the highest."""
        return self.highest - self.last

    @property
    def goes_on(self) -> bool:
        """Whether an event has arrived for a position beyond the last applied one, and the end is not applied."""
        return self.last < self.highest and not self.end

    @property
    def needs_attention(self) -> int | None:
        """Since when an operator has to act (epoch ms); None if nobody has to."""
        if self.blocked:
            return self.blocked.since
        if self.alerted is Alerted.GAP and self.gap_since is not None:
            return self.gap_since
        return self.touched_at if self.alerted is Alerted.IDLE and not self.end else None


def opened(order_id: str, first: OrderEvent | None, rules: LaneRules) -> Lane:
    """The lane of a new order; its first event says whether sequence numbers count."""
    numbered = rules.sequenced or (first is not None and first.sequence is not None)
    return Lane(order_id, sequenced=numbered)


def refusal(lane: Lane, event: OrderEvent, target: StoredEvent | None) -> str:
    """Why the next event cannot be applied in the lane's state; empty if it can.

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
    """Why a modify without sequence number is too old to be applied; empty if it is not.

    A create, an add or a delete is applied however late it comes, for nothing newer stands for it.
    """
    if lane.sequenced or event.as_of is None or lane.as_of is None or event.op is not Op.MODIFY:
        return ""
    return "asOf: something newer was applied before" if event.as_of < lane.as_of else ""


def advanced(lane: Lane, stored: StoredEvent) -> Lane:
    """The lane past its next position."""
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


def with_customer(lane: Lane, event: OrderEvent) -> Lane:
    """The lane with the customer of this event, unless an earlier one has named its customer."""
    return replace(lane, customer_id=event.customer_id) if event.customer_id and not lane.customer_id else lane


def with_done(lane: Lane, command_id: str) -> Lane:
    """The lane to which this command has now been applied."""
    return replace(lane, done=(*lane.done, command_id)[-MOST_DONE:])


def with_offset(lane: Lane, event: OrderEvent) -> Lane:
    """The lane with the offset of this entry in its ledger, if it has no sequence numbers."""
    if lane.sequenced or not event.ledger_id:
        return lane
    others = [(name, index) for name, index in lane.offsets.items() if name != event.ledger_id]
    return replace(lane, offsets=dict([*others, (event.ledger_id, event.index)][-MOST_OFFSETS:]))


def settled(before: Lane, lane: Lane, rules: LaneRules, now: int, *, has_rows: bool = False) -> Lane:
    """The lane with its gap, its due time and its next revision; `before` itself if nothing has changed.

    With `has_rows` its rows have changed, and whoever read the lane before has to read it again.
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
        alerted=before.alerted if same_block or same_gap else Alerted.NOTHING,
    )
    return _next(before, lane, rules)


def alerted(lane: Lane, what: Alerted, rules: LaneRules) -> Lane:
    """The lane to whose trouble an operator has now been alerted."""
    return _next(lane, replace(lane, alerted=what), rules)


def _next(before: Lane, lane: Lane, rules: LaneRules) -> Lane:
    return replace(lane, due=due(lane, rules), revision=before.revision + 1)


def due(lane: Lane, rules: LaneRules) -> int | None:
    """When the Supervisor has to check the lane if nothing else happens (epoch ms); None if never."""
    if lane.blocked:
        return None if lane.alerted is Alerted.BLOCKED else lane.blocked.since + rules.alert_within
    if lane.gap_since is not None:
        return None if lane.alerted is Alerted.GAP else lane.gap_since + rules.gap_within
    if lane.end or lane.deleted or not rules.idle_after or lane.alerted is Alerted.IDLE:
        return None
    return lane.touched_at + rules.idle_after


def owed(lane: Lane, rules: LaneRules, now: int) -> Alerted:
    """The trouble that an operator has to be alerted to now, and has not been."""
    if lane.blocked:
        return Alerted.NOTHING if lane.alerted is Alerted.BLOCKED else Alerted.BLOCKED
    at = due(lane, rules)
    if at is None or at > now:
        return Alerted.NOTHING
    return Alerted.GAP if lane.gap_since is not None else Alerted.IDLE
