"""An SQS FIFO queue in memory: order within each group, and five minutes of deduplication."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from stepward.testing.sqs.messages import Stored, Taken
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry, Refused, check_body, check_fifo_id

DEDUPLICATION_MS = 5 * 60 * 1000
_FIRST_SEQUENCE = 18_880_000_000_000_000_000
_SEQUENCE_STEP = 256


@dataclass(kw_only=True)
class MemoryFifoQueue(MemoryQueue):
    """A FIFO queue; `deduplication_per_group` is AWS's DeduplicationScope=messageGroup."""

    content_based_deduplication: bool = False
    deduplication_per_group: bool = False
    _sent: dict[tuple[str, str], tuple[int, Taken]] = field(default_factory=dict)

    fifo = True

    def _take(self, entry: Entry) -> Taken:
        if self.content_based_deduplication and not entry.deduplication:
            digest = hashlib.sha256(entry.body.encode("utf-8", "surrogatepass")).hexdigest()
            entry = replace(entry, deduplication=digest)
        self._check(entry)
        now = self.clock()
        key = (entry.group if self.deduplication_per_group else "", entry.deduplication)
        earlier = self._sent.get(key)
        if earlier is not None and now - earlier[0] < DEDUPLICATION_MS:
            return replace(earlier[1], id=entry.id)
        stored = self._accept(entry, now + self.delay * 1000)
        taken = Taken(entry.id, stored.message_id, stored.sequence)
        self._sent[key] = (now, taken)
        return taken

    def _check(self, entry: Entry) -> None:
        check_body(entry.body, self.largest)
        check_fifo_id("MessageGroupId", entry.group)
        check_fifo_id("MessageDeduplicationId", entry.deduplication)
        if entry.delay is not None:
            raise Refused("InvalidParameterValue", "a FIFO queue takes no DelaySeconds per message")

    def _store(self, entry: Entry, visible_at: int) -> Stored:
        stored = super()._store(entry, visible_at)
        stored.sequence = str(_FIRST_SEQUENCE + stored.number * _SEQUENCE_STEP)
        return stored

    def _receivable(self, now: int) -> list[Stored]:
        hidden = [stored for stored in self._messages.values() if stored.visible_at > now]
        held = {stored.group for stored in hidden if stored.in_flight(now)}
        return [stored for stored in self._messages.values() if stored.visible_at <= now and stored.group not in held]

    def _may_delete(self, stored: Stored, handle: str) -> bool:
        if stored.handle != handle or not stored.in_flight(self.clock()):
            raise Refused("InvalidParameterValue", "the receipt handle has expired; the message will come again")
        return True
