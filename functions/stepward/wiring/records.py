"""What every function keeps beside tasks: rejects, and the small shared records."""

from __future__ import annotations

from stepward.adapters.dynamodb.controls import DynamoControls
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.tables import Access, ControlItem, RejectItem, bound
from stepward.wiring.clock import new_id, now


def kept_rejects(access: Access, table: str) -> DynamoRejects:
    """The rejects in the table of this name."""
    return DynamoRejects(bound(RejectItem, table, access), now)


def shared_controls(access: Access, table: str) -> DynamoControls:
    """The small shared records in the table of this name."""
    return DynamoControls(bound(ControlItem, table, access), new_id)
