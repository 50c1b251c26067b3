"""The lanes on DynamoDB: one item per lane, one per event that has left it, one conditional write per change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pynamodb.connection import Connection
from pynamodb.expressions.condition import Condition

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.indexes import due_in, listing, needing_attention
from stepward.adapters.dynamodb.lane_items import LaneItem, LaneRowItem
from stepward.adapters.dynamodb.lane_records import (
    HEAD,
    LAST_KEY,
    EventText,
    decode_names,
    decode_offsets,
    decode_positions,
    encode_list,
    encode_offsets,
    key_of,
    position_in,
)
from stepward.adapters.dynamodb.tables import find, whole
from stepward.adapters.dynamodb.writes import is_own, put_all_if, put_if
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Alerted, Blocked, Lane
from stepward.domain.errors import Corrupt, NotUnderstood, known, wrong_with

MOST_ROWS = 99
"""Beside the lane itself: a transaction takes 100 items."""
_COUNTS = ("last", "highest", "end", "deleted", "attempts", "unsequenced_seen", "cleared")


@dataclass(frozen=True, slots=True)
class DynamoLanes:
    """`ports.Lanes` on two models of one table; `new_id` gives a unique id for each write."""

    heads: type[LaneItem]
    events: type[LaneRowItem]
    connection: Connection
    shards: int
    new_id: Callable[[], str]

    def load(self, order_id: str) -> Lane | None:
        """The lane with its newest events, in one consistent read; see the port."""
        item = self._find(order_id)
        return None if item is None else self._lane(item)

    def rows(self, order_id: str, first: int, most: int) -> Sequence[StoredEvent]:
        """The rows from position `first` on, in one consistent query; see the port."""
        reached = LaneRowItem.position.between(key_of(first), LAST_KEY)
        with translated(f"read the events of {order_id}"):
            found = list(self.events.query(order_id, reached, consistent_read=True, limit=most))
        return [_stored(item) for item in found]

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        """Write the events that left the lane, then the lane and its new rows in one transaction; see the port."""
        if len(rows) > MOST_ROWS:
            raise ValueError(f"{len(rows)} rows in one change of {lane.order_id}; the limit is {MOST_ROWS}")
        # Older events first: a death in between leaves them twice, never nowhere.
        self._store(lane.order_id, older)
        head, unchanged = self._item(lane, self.new_id()), _unchanged(replaces)
        what = f"write the lane of {lane.order_id}"
        new = [(self._row(lane.order_id, stored), None) for stored in rows]
        written = put_all_if(self.connection, [(head, unchanged), *new], what) if new else put_if(head, unchanged, what)
        return written or is_own(self._find(lane.order_id), head.write_id)

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The due lanes of one shard; see the port."""
        return due_in(self.heads, shard, until)

    def needing_attention(self) -> Iterator[str]:
        """The lanes that wait for an operator; see the port."""
        return needing_attention(self.heads)

    def _find(self, order_id: str) -> LaneItem | None:
        with translated(f"read the lane of {order_id}"):
            return find(self.heads, order_id, HEAD)

    def _store(self, order_id: str, older: Sequence[StoredEvent]) -> None:
        if not older:
            return
        with translated(f"store older events of {order_id}"), self.events.batch_write() as batch:
            for stored in older:
                batch.save(self._row(order_id, stored))

    def _row(self, order_id: str, stored: StoredEvent) -> LaneRowItem:
        text = EventText.of(stored)
        return self.events(
            order_id, key_of(stored.position), body=text.body, summary=text.summary, skipped=text.skipped or None
        )

    def _item(self, lane: Lane, write_id: str) -> LaneItem:
        blocked = lane.blocked
        return self.heads(
            lane.order_id,
            HEAD,
            revision=lane.revision,
            write_id=write_id,
            touched_at=lane.touched_at,
            unnumbered=None if lane.sequenced else True,
            last=lane.last or None,
            highest=lane.highest or None,
            cleared=lane.cleared or None,
            end=lane.end or None,
            created=lane.created or None,
            deleted=lane.deleted or None,
            blocked_at=blocked.position if blocked else None,
            blocked_since=blocked.since if blocked else None,
            reason=blocked.reason if blocked else None,
            gap_since=lane.gap_since,
            attempts=lane.attempts or None,
            alerted=None if lane.alerted is Alerted.NOTHING else lane.alerted.value,
            recent={stored.position: EventText.of(stored) for stored in lane.recent} or None,
            offsets=encode_offsets(lane.offsets),
            unsequenced_seen=lane.unsequenced_seen or None,
            unsequenced=encode_list(lane.unsequenced),
            as_of=lane.as_of,
            done=encode_list(lane.done),
            customer_id=lane.customer_id or None,
            **listing(lane.order_id, self.shards, due=lane.due, since=lane.needs_attention),
        )

    def _lane(self, item: LaneItem) -> Lane:
        order_id = item.order_id
        try:
            return Lane(
                order_id=order_id,
                revision=whole(item.revision),
                sequenced=not item.unnumbered,
                created=bool(item.created),
                blocked=_blocked(item),
                alerted=known(Alerted, item.alerted or Alerted.NOTHING.value, "an alert"),
                recent=tuple(text.stored(order_id, position) for position, text in (item.recent or {}).items()),
                offsets=decode_offsets(item.offsets),
                unsequenced=decode_positions(item.unsequenced),
                touched_at=whole(item.touched_at),
                done=decode_names(item.done),
                customer_id=item.customer_id or "",
                **{name: whole(getattr(item, name) or 0) for name in _COUNTS},
                gap_since=_maybe(item.gap_since),
                as_of=_maybe(item.as_of),
                due=_maybe(item.due),
            )
        except NotUnderstood as error:
            raise error.of(f"the lane of {order_id}", _maybe(item.due)) from error
        except (TypeError, ValueError) as error:
            raise Corrupt(f"{order_id}: its lane: {wrong_with(error)}") from error


def _unchanged(replaces: Lane) -> Condition:
    if not replaces.revision:
        return LaneItem.order_id.does_not_exist()
    unchanged: Any = LaneItem.revision == replaces.revision
    return unchanged  # type: ignore[no-any-return]


def _stored(item: LaneRowItem) -> StoredEvent:
    try:
        return EventText(item.body, item.summary, item.skipped or "").stored(item.order_id, position_in(item.position))
    except NotUnderstood as error:
        raise error.of(f"the lane of {item.order_id}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise Corrupt(f"{item.order_id}: its event at {item.position}: {wrong_with(error)}") from error


def _blocked(item: LaneItem) -> Blocked | None:
    position = _maybe(item.blocked_at)
    return None if position is None else Blocked(position, item.reason or "", whole(item.blocked_since))


def _maybe(number: float | None) -> int | None:
    return None if number is None else whole(number)
