"""The two sparse indexes of the state store and of the lanes: what they list, and how they are read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.models import Model

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import Indexes, M, merged, readable

PAGE = 100
ATTENTION_KEYS = range(1, 17)
"""Keys of the attention index: each takes 1,000 writes a second, and 1 was the only one in older records."""


def shard_of(order_id: str, shards: int) -> int:
    """The shard of the due index that lists this order."""
    return zlib.crc32(order_id.encode()) % shards


class DueIndex(GlobalSecondaryIndex[M]):  # type: ignore[no-untyped-call]
    """Items that the Supervisor has to check, by shard and time."""

    class Meta:
        """The index's name, and its projection: keys only."""

        index_name = "due"
        projection = KeysOnlyProjection()

    shard = NumberAttribute(hash_key=True, attr_name="Shard")
    due = NumberAttribute(range_key=True, attr_name="Due")


class AttentionIndex(GlobalSecondaryIndex[M]):  # type: ignore[no-untyped-call]
    """Items that wait for an operator, oldest first."""

    class Meta:
        """The index's name, and its projection: keys only."""

        index_name = "attention"
        projection = KeysOnlyProjection()

    attention = NumberAttribute(hash_key=True, attr_name="Attention")
    since = NumberAttribute(range_key=True, attr_name="Since")


class IndexedItem(Model):
    """An item that names its order and its last write, and that both indexes may list.

    `shard` and `due` are set only while the Supervisor has to check it, `attention` and `since` only while an operator
    has to act.
    """

    due_index: ClassVar[DueIndex[Any]]
    attention_index: ClassVar[AttentionIndex[Any]]
    INDEXES: ClassVar[Indexes] = {"due_index": DueIndex, "attention_index": AttentionIndex}
    order_id = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    revision = NumberAttribute(attr_name="Revision")
    write_id = UnicodeAttribute(attr_name="WriteId")
    shard = NumberAttribute(attr_name="Shard", null=True)
    due = NumberAttribute(attr_name="Due", null=True)
    attention = NumberAttribute(attr_name="Attention", null=True)
    since = NumberAttribute(attr_name="Since", null=True)

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """The item in DynamoDB's JSON; raises Corrupt or NotUnderstood with the order's id."""
        return readable(cls, super().from_raw_data, data)


def listing(order_id: str, shards: int, *, due: int | None, since: int | None) -> dict[str, Any]:
    """The attributes that list an item as due at `due`, and as waiting for an operator since `since` (epoch ms)."""
    shard = None if due is None else shard_of(order_id, shards)
    attention = None if since is None else ATTENTION_KEYS[shard_of(order_id, len(ATTENTION_KEYS))]
    return {"shard": shard, "due": due, "attention": attention, "since": since}


def due_in(items: type[IndexedItem], shard: int, until: int) -> Iterator[str]:
    """The orders of a shard whose item is due up to `until`, oldest first, page by page; raises Transient."""
    with translated(f"read the due index of {items.Meta.table_name}, shard {shard}"):
        for item in items.due_index.query(shard, IndexedItem.due <= until, page_size=PAGE):
            yield item.order_id


def needing_attention(items: type[IndexedItem]) -> Iterator[str]:
    """The orders whose item waits for an operator, oldest first, page by page; raises Transient."""
    for _, order_id in merged(_waiting(items, key) for key in ATTENTION_KEYS):
        yield order_id


def _waiting(items: type[IndexedItem], key: int) -> Iterator[tuple[float, str]]:
    with translated(f"read the attention index of {items.Meta.table_name}, key {key}"):
        for item in items.attention_index.query(key, page_size=PAGE):
            yield item.since, item.order_id
