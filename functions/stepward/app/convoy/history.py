"""What a lane holds, in order: its newest events stand in its own record, the others in rows."""

from __future__ import annotations

from collections.abc import Iterator

from stepward.domain.convoy.balance import Account, account_of
from stepward.domain.convoy.event import Kept
from stepward.domain.convoy.lane import MOST_STRAYS, Lane
from stepward.ports import Lanes
from stepward.wire.order_event import details_of

PAGE = 100


def history(lanes: Lanes, lane: Lane) -> Iterator[Kept]:
    """Every event up to the last applied one, applied or passed over; raises Transient or Unreadable."""
    recent = {kept.place: kept for kept in lane.recent}
    for kept in rows_between(lanes, lane.order_id, 1, lane.last):
        # The lane's own record is the later word: a row may tell of a death between its write and the record's.
        if kept.place in recent:
            continue
        yield from (recent.pop(place) for place in sorted(recent) if place < kept.place)
        yield kept
    yield from (recent[place] for place in sorted(recent))


def waiting(lanes: Lanes, lane: Lane) -> Iterator[Kept]:
    """The events beyond the last applied one, in order; raises Transient or Unreadable."""
    return rows_between(lanes, lane.order_id, lane.last + 1, lane.highest)


def strays(lanes: Lanes, lane: Lane) -> Iterator[Kept]:
    """The events that nobody could place, u1 first; raises Transient or Unreadable."""
    found = rows_between(lanes, lane.order_id, -MOST_STRAYS, -1) if lane.strays else ()
    yield from sorted(found, key=lambda kept: -kept.place)


def account(lanes: Lanes, lane: Lane) -> Account:
    """What the order's applied events come to; raises Transient or Unreadable."""
    return account_of(history(lanes, lane), details_of)


def kept_at(lanes: Lanes, lane: Lane, place: int) -> Kept | None:
    """What the lane holds at a place, None if nothing; raises Transient or Unreadable."""
    inline = next((kept for kept in lane.recent if kept.place == place), None)
    return inline or next(rows_between(lanes, lane.order_id, place, place), None)


def rows_between(lanes: Lanes, order_id: str, first: int, last: int) -> Iterator[Kept]:
    """The rows from one place to another, page by page; raises Transient or Unreadable."""
    while first <= last and (found := lanes.rows(order_id, first, min(PAGE, last - first + 1))):
        for kept in found:
            if kept.place > last:
                return
            yield kept
        first = found[-1].place + 1
