"""The store of the lanes."""

from __future__ import annotations

from stepward.adapters.dynamodb.lane_items import LaneItem, LaneRowItem
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.tables import Access, bound
from stepward.wiring.clock import new_id
from stepward.wiring.parts import Parts


def lanes_in(access: Access, table: str, shards: int) -> DynamoLanes:
    """The lanes in the table of this name."""
    heads, events = bound(LaneItem, table, access), bound(LaneRowItem, table, access)
    return DynamoLanes(heads, events, access.connection, shards, new_id)


def lanes_of(parts: Parts) -> DynamoLanes:
    """The lanes of a function."""
    return lanes_in(parts.access, parts.config.lanes_table, parts.config.shards)
