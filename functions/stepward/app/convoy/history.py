"""What a lane holds, in sequence: its newest events are in its own record, the others in rows."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.convoy.balance import Balance, balance_of
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.sequence import MOST_UNSEQUENCED
from stepward.ports import Lanes
from stepward.wire.order_event import details_of

PAGE = 100


def history(lanes: Lanes, lane: Lane) -> Iterator[StoredEvent]:
    """Every event up to the last applied one, applied or skipped; raises Transient or Corrupt."""
    recent = {stored.position: stored for stored in lane.recent}
    for stored in rows_between(lanes, lane.order_id, 1, lane.last):
        # The lane's own record wins: a death may have left a row without the write of the record.
        if stored.position in recent:
            continue
        yield from (recent.pop(position) for position in sorted(recent) if position < stored.position)
        yield stored
    yield from (recent[position] for position in sorted(recent))


def waiting(lanes: Lanes, lane: Lane) -> Iterator[StoredEvent]:
    """The events beyond the last applied one, in sequence; raises Transient or Corrupt."""
    return rows_between(lanes, lane.order_id, lane.last + 1, lane.highest)


def unsequenced_seen(lanes: Lanes, lane: Lane) -> Iterator[StoredEvent]:
    """The unsequenced events, u1 first; raises Transient or Corrupt."""
    found = rows_between(lanes, lane.order_id, -MOST_UNSEQUENCED, -1) if lane.unsequenced_seen else ()
    yield from sorted(found, key=lambda stored: -stored.position)


def balance(lanes: Lanes, lane: Lane) -> Balance:
    """What the order's applied events come to; raises Transient or Corrupt."""
    return balance_of(history(lanes, lane), details_of)


def stored_at_position(lanes: Lanes, lane: Lane, position: int) -> StoredEvent | None:
    """What the lane holds at a position, None if nothing; raises Transient or Corrupt."""
    inline = next((stored for stored in lane.recent if stored.position == position), None)
    return inline or next(rows_between(lanes, lane.order_id, position, position), None)


def rows_between(lanes: Lanes, order_id: str, first: int, last: int) -> Iterator[StoredEvent]:
    """The rows from one position to another, page by page; raises Transient or Corrupt."""
    while first <= last and (found := lanes.rows(order_id, first, min(PAGE, last - first + 1))):
        for stored in found:
            if stored.position > last:
                return
            yield stored
        first = found[-1].position + 1
