"""Rejected messages in full: a body larger than a row takes several rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from zlib import crc32

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import RejectItem, merged
from stepward.domain.rejects import Reject

PART = 350_000
DAYS = 14
SHARDS = 16
"""Partitions for each day: each takes 1,000 write units a second. Older rejects are in one without a shard."""
MOST_AT_ONCE = 100
"""Rows that one call reads."""
_SHARDS = [f"#{shard:02d}" for shard in range(SHARDS)]


@dataclass(frozen=True, slots=True)
class DynamoRejects:
    """The rejects table, some partitions for each day; `now` is epoch milliseconds."""

    table: type[RejectItem]
    now: Callable[[], int]

    def keep(self, reject: Reject) -> None:
        """Put every part; the same message gets the same keys."""
        body = reject.body.encode("utf-8", "surrogatepass")
        shard = crc32(reject.message_id.encode("utf-8", "surrogatepass")) % SHARDS
        for part, start in enumerate(range(0, max(len(body), 1), PART)):
            with translated(f"store the rejected message {reject.message_id}"):
                self.table(
                    f"{_day(reject.received_at)}{_SHARDS[shard]}",
                    f"{reject.received_at:013d}#{reject.message_id}#{part:02d}",
                    source=reject.source,
                    field=reject.field,
                    reason=reject.reason,
                    order_id=reject.order_id or None,
                    body=body[start : start + PART],
                ).save()

    def newest(self, limit: int) -> Sequence[Reject]:
        """The newest first, of the last two weeks."""
        return list(islice(self._backwards(min(limit, MOST_AT_ONCE)), limit))

    def _backwards(self, page: int) -> Iterator[Reject]:
        for days in range(DAYS):
            day = _day(self.now() - timedelta(days=days) // timedelta(milliseconds=1))
            parts = (self._in(f"{day}{shard}", page) for shard in ("", *_SHARDS))
            for _, same in groupby(merged(parts, _arrival, reverse=True), _arrival):
                yield next(same)

    def _in(self, partition: str, page: int) -> Iterator[Reject]:
        parts: list[RejectItem] = []
        with translated(f"read the rejects of {partition}"):
            for item in self.table.query(partition, scan_index_forward=False, page_size=page):
                parts.insert(0, item)
                if item.key.endswith("#00"):
                    yield _reject(parts)
                    parts = []


def _arrival(reject: Reject) -> tuple[int, str]:
    return reject.received_at, reject.message_id


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def _reject(parts: Sequence[RejectItem]) -> Reject:
    first = parts[0]
    received_at, message_id, _ = first.key.split("#")
    reject = Reject(
        message_id=message_id,
        source=first.source,
        received_at=int(received_at),
        field=first.field,
        reason=first.reason,
        body=b"".join(part.body for part in parts).decode("utf-8", "surrogatepass"),
    )
    return replace(reject, order_id=first.order_id or "")
