"""The items of the lanes' table: one head per order, and the rows of its events."""

from __future__ import annotations

from typing import Any, Self

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from stepward.adapters.dynamodb.indexes import IndexedItem
from stepward.adapters.dynamodb.lane_records import RecentAttribute
from stepward.adapters.dynamodb.tables import readable


class LaneItem(IndexedItem):
    """The lane of an order, in one table with the rows of its events; its sort key is a word that no row has.

    Usual values are left out.
    """

    position = UnicodeAttribute(range_key=True, attr_name="Position")
    touched_at = NumberAttribute(attr_name="TouchedAt")
    unnumbered = BooleanAttribute(attr_name="Unnumbered", null=True)
    last = NumberAttribute(attr_name="Last", null=True)
    highest = NumberAttribute(attr_name="Highest", null=True)
    end = NumberAttribute(attr_name="End", null=True)
    created = BooleanAttribute(attr_name="Created", null=True)
    deleted = NumberAttribute(attr_name="Deleted", null=True)
    blocked_at = NumberAttribute(attr_name="BlockedAt", null=True)
    blocked_since = NumberAttribute(attr_name="BlockedSince", null=True)
    reason = UnicodeAttribute(attr_name="Reason", null=True)
    gap_since = NumberAttribute(attr_name="GapSince", null=True)
    attempts = NumberAttribute(attr_name="Attempts", null=True)
    alerted = UnicodeAttribute(attr_name="Alerted", null=True)
    recent = RecentAttribute(attr_name="Recent", null=True)
    offsets = UnicodeAttribute(attr_name="Offsets", null=True)
    unsequenced_seen = NumberAttribute(attr_name="UnsequencedSeen", null=True)
    unsequenced = UnicodeAttribute(attr_name="Unsequenced", null=True)
    as_of = NumberAttribute(attr_name="AsOf", null=True)
    done = UnicodeAttribute(attr_name="Done", null=True)
    customer_id = UnicodeAttribute(attr_name="Customer", null=True)
    cleared = NumberAttribute(attr_name="Cleared", null=True)


class LaneRowItem(Model):
    """One event of a lane, in a row of its own; `position` sorts as the numbers do."""

    order_id = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    position = UnicodeAttribute(range_key=True, attr_name="Position")
    body = UnicodeAttribute(attr_name="Body")
    summary = UnicodeAttribute(attr_name="Summary")
    skipped = UnicodeAttribute(attr_name="Skipped", null=True)

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """The item in DynamoDB's JSON; raises Corrupt or NotUnderstood with the order's id."""
        return readable(cls, super().from_raw_data, data)
