"""Rejected messages in full: a large body is an object of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from typing import TYPE_CHECKING
from zlib import crc32

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import RejectItem, merged
from stepward.domain.errors import Misconfigured
from stepward.domain.rejects import Reject

if TYPE_CHECKING:
    from stepward.adapters.s3_bodies import S3Bodies

IN_ROW = 8 * 1024
"""Bytes of a body that is kept in the row: above, an object costs less, and uses up nothing of the key's writes."""
PART = 350_000
"""Bytes of a body in each of several rows, where there is no bucket; older code knew none."""
DAYS = 14
SHARDS = 16
"""Partitions for each day: each takes 1,000 write units a second. Older rejects are in one without a shard."""
MOST_AT_ONCE = 100
"""Rows that one call reads."""
_ENCODING = ("utf-8", "surrogatepass")
_SHARDS = [f"#{shard:02d}" for shard in range(SHARDS)]


@dataclass(frozen=True, slots=True)
class DynamoRejects:
    """The rejects table, some partitions for each day; `now` is epoch milliseconds.

    `bodies` makes the store of the large bodies when it is first needed; without it they are in rows.
    """

    table: type[RejectItem]
    now: Callable[[], int]
    bodies: Callable[[], S3Bodies] | None = None

    def keep(self, reject: Reject) -> None:
        """Put the object first, if there is one, and every part; the same message gets the same keys."""
        body = reject.body.encode(*_ENCODING)
        shard = crc32(reject.message_id.encode(*_ENCODING)) % SHARDS
        day, name, kept_at = _day(reject.received_at), f"{reject.received_at:013d}#{reject.message_id}", ""
        if self.bodies is not None and len(body) > IN_ROW:
            kept_at = f"{day}/{name}"
            self.bodies().put(kept_at, body)
            body = b""
        for part, start in enumerate(range(0, max(len(body), 1), PART)):
            with translated(f"store the rejected message {reject.message_id}"):
                self.table(
                    f"{day}{_SHARDS[shard]}",
                    f"{name}#{part:02d}",
                    source=reject.source,
                    field=reject.field,
                    reason=reject.reason,
                    order_id=reject.order_id or None,
                    body=body[start : start + PART],
                    kept_at=kept_at or None,
                ).save()

    def newest(self, limit: int) -> Sequence[Reject]:
        """The newest first, of the last two weeks."""
        return list(islice(self._backwards(min(limit, MOST_AT_ONCE)), limit))

    def whole(self, reject: Reject) -> Reject:
        """The reject with its body, wherever that is; see the port."""
        if not reject.kept_at:
            return reject
        if self.bodies is None:
            raise Misconfigured(f"the body of {reject.message_id} is in a bucket, and the stack has no output for it")
        return replace(reject, body=self.bodies().get(reject.kept_at).decode(*_ENCODING), kept_at="")

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
        body=b"".join(part.body for part in parts).decode(*_ENCODING),
    )
    return replace(reject, order_id=first.order_id or "", kept_at=first.kept_at or "")
