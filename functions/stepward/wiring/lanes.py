"""The lanes of orders, and what tells operators of them."""

from __future__ import annotations

from stepward.adapters.dynamodb.lane_items import LaneItem, LaneRowItem
from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.tables import Access, bound
from stepward.app.lane_telling import LaneTelling
from stepward.wiring.alerts import alerts
from stepward.wiring.clock import new_id
from stepward.wiring.parts import Parts


def kept_lanes(access: Access, table: str, shards: int) -> DynamoLanes:
    """The lanes in the table of this name."""
    heads, events = bound(LaneItem, table, access), bound(LaneRowItem, table, access)
    return DynamoLanes(heads, events, access.connection, shards, new_id)


def lanes_of(parts: Parts) -> DynamoLanes:
    """The lanes of a function."""
    return kept_lanes(parts.access, parts.config.lanes_table, parts.config.shards)


def telling_of(parts: Parts, lanes: DynamoLanes) -> LaneTelling:
    """What tells operators of lanes that wait for them."""
    return LaneTelling(lanes, alerts(parts), parts.telemetry, parts.config.lane_rules)
