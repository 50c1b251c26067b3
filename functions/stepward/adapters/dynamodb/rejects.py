"""Rejected messages in full: a body larger than a row takes several rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import RejectItem
from stepward.domain.rejects import Reject

PART = 350_000
DAYS = 14


@dataclass(frozen=True, slots=True)
class DynamoRejects:
    """The rejects table, a partition per day; `now` is epoch milliseconds."""

    table: type[RejectItem]
    now: Callable[[], int]

    def keep(self, reject: Reject) -> None:
        """Put every part; the same message gets the same keys."""
        body = reject.body.encode("utf-8", "surrogatepass")
        for part, start in enumerate(range(0, max(len(body), 1), PART)):
            with translated(f"store the rejected message {reject.message_id}"):
                self.table(
                    _day(reject.received_at),
                    f"{reject.received_at:013d}#{reject.message_id}#{part:02d}",
                    source=reject.source,
                    field=reject.field,
                    reason=reject.reason,
                    order_id=reject.order_id or None,
                    body=body[start : start + PART],
                ).save()

    def newest(self, limit: int) -> Sequence[Reject]:
        """The newest first, of the last two weeks."""
        return list(islice(self._backwards(), limit))

    def _backwards(self) -> Iterator[Reject]:
        for days in range(DAYS):
            day = _day(self.now() - timedelta(days=days) // timedelta(milliseconds=1))
            parts: list[RejectItem] = []
            with translated(f"read the rejects of {day}"):
                for item in self.table.query(day, scan_index_forward=False):
                    parts.insert(0, item)
                    if item.key.endswith("#00"):
                        yield _reject(parts)
                        parts = []


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
