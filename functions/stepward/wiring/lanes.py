"""The lanes of orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stepward.adapters.dynamodb.lane_items import LaneItem, LaneRowItem
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.tables import Access, bound
from stepward.domain.order_event import OrderEvent
from stepward.wire.order_event import EventMessage, kept_event
from stepward.wiring.clock import new_id
from stepward.wiring.parts import Parts


def kept_lanes(access: Access, table: str, shards: int, decode: Callable[[str], OrderEvent]) -> DynamoLanes:
    """The lanes in the table of this name; `decode` reads the events that they keep."""
    heads, events = bound(LaneItem, table, access), bound(LaneRowItem, table, access)
    return DynamoLanes(heads, events, access.connection, shards, new_id, decode)


def lanes_of(parts: Parts, schema: type[EventMessage]) -> DynamoLanes:
    """The lanes of a function; their events are of `schema`."""
    decode = partial(kept_event, schema=schema)
    return kept_lanes(parts.access, parts.config.lanes_table, parts.config.shards, decode)
