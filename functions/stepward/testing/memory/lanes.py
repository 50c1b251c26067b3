"""Lanes, their queue, and the objects that hold ledgers, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from stepward.adapters.sqs.delivery import lane_messages
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.testing.memory.queues import send
from stepward.testing.sqs.queue import MemoryQueue


@dataclass(frozen=True, slots=True)
class MemoryLanes:
    """`ports.Lanes` in memory."""

    shard_of: Callable[[str], int] = lambda _: 0
    lanes: dict[str, Lane] = field(default_factory=dict)
    kept: dict[str, dict[int, StoredEvent]] = field(default_factory=dict)
    written: dict[str, Lane] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def load(self, order_id: str) -> Lane | None:
        """The lane; see the port."""
        return self.lanes.get(order_id)

    def rows(self, order_id: str, first: int, most: int) -> Sequence[StoredEvent]:
        """The first rows from a position on; see the port."""
        with self.lock:
            found = self.kept.get(order_id, {})
            return [found[position] for position in sorted(position for position in found if position >= first)[:most]]

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        """Write lane and rows if nobody was faster; see the port."""
        with self.lock:
            stored = self.kept.setdefault(lane.order_id, {})
            stored.update({row.position: row for row in older})
            now = self.lanes.get(lane.order_id)
            if self.written.get(lane.order_id) is lane:
                return True
            if (now.revision if now else 0) != replaces.revision:
                return False
            self.lanes[lane.order_id], self.written[lane.order_id] = _without_contents(lane), lane
            stored.update({row.position: _without_content(row) for row in rows})
            return True

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The lanes of one shard that are due, oldest first; see the port."""
        with self.lock:
            waiting = [(lane.due, lane.order_id) for lane in self.lanes.values() if lane.due is not None]
        yield from (order_id for due, order_id in sorted(waiting) if due <= until and self.shard_of(order_id) == shard)

    def needing_attention(self) -> Iterator[str]:
        """The lanes that wait for an operator, oldest first; see the port."""
        waiting = [(lane.needs_attention, lane.order_id) for lane in self.lanes.values()]
        yield from [order_id for _, order_id in sorted((since, name) for since, name in waiting if since is not None)]


def _without_contents(lane: Lane) -> Lane:
    if all(row.event.content is None for row in lane.recent):
        return lane
    return replace(lane, recent=tuple(map(_without_content, lane.recent)))


def _without_content(row: StoredEvent) -> StoredEvent:
    """The stored event as a table holds it."""
    return row if row.event.content is None else replace(row, event=replace(row.event, content=None))


@dataclass(frozen=True, slots=True)
class MemoryLedgers:
    """`ports.Ledgers` in memory; `read` yields `piece` bytes at a time."""

    objects: dict[str, bytes] = field(default_factory=dict)
    piece: int = 64 * 1024

    def version(self, key: str) -> str | None:
        """The hash of the object; see the port."""
        found = self.objects.get(key)
        return None if found is None else hashlib.sha256(found).hexdigest()

    def read(self, key: str, version: str, start: int) -> Iterator[bytes]:
        """The object in pieces; see the port."""
        found = self.objects.get(key)
        if found is None or version != self.version(key):
            what = "is gone" if found is None else "has changed"
            raise Rejected("objectKey", f"the object {key!r} {what} since the ledger was begun")
        for begin in range(start, len(found), self.piece):
            yield found[begin : begin + self.piece]


@dataclass(frozen=True, slots=True)
class MemoryLaneQueue:
    """`ports.LaneQueue` in memory."""

    queue: MemoryQueue

    def send(self, messages: Sequence[LaneMessage]) -> None:
        """Send the messages, those of each order in sequence; see the port."""
        send(self.queue, lane_messages(messages))
