"""The items of the state store: its tasks, and the plans that they share."""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from stepward.adapters.dynamodb.indexes import IndexedItem
from stepward.adapters.dynamodb.task_records import StepsAttribute


class PlanItem(Model):
    """A plan in a row of its own, in the state store's table, under a key that no order can have."""

    key = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")


class TaskItem(IndexedItem):
    """A task in the state store; `expires_at` (epoch seconds, as DynamoDB wants it) is set only once it has ended."""

    process_state = UnicodeAttribute(attr_name="ProcessState")
    plan_id = UnicodeAttribute(attr_name="Plan")
    created_at = NumberAttribute(attr_name="CreatedAt")
    fence = NumberAttribute(attr_name="Fence")
    fence_base = NumberAttribute(attr_name="FenceBase", null=True)
    steps = StepsAttribute(attr_name="Steps")
    history = UnicodeAttribute(attr_name="History", null=True)
    undoing = UnicodeAttribute(attr_name="Undoing", null=True)
    paused = UnicodeAttribute(attr_name="Paused", null=True)
    reply_to = UnicodeAttribute(attr_name="ReplyTo", null=True)
    correlation_id = UnicodeAttribute(attr_name="CorrelationId", null=True)
    complete_by = NumberAttribute(attr_name="CompleteBy", null=True)
    time_limit = UnicodeAttribute(attr_name="TimeLimit", null=True)
    expires_at = NumberAttribute(attr_name="ExpiresAt", null=True)
    parent = UnicodeAttribute(attr_name="Parent", null=True)
    wish = UnicodeAttribute(attr_name="Wish", null=True)
    """Of an order that has not come yet; whoever reads a task takes such an item for none."""
