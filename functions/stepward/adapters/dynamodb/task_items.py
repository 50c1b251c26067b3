"""How the state store looks to pynamodb: its tasks, and the plans that they share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from stepward.adapters.dynamodb.indexes import AttentionIndex, DueIndex
from stepward.adapters.dynamodb.records import StepsAttribute
from stepward.adapters.dynamodb.tables import Indexes, readable


class PlanItem(Model):
    """A plan in a row of its own, in the state store's table, under a key that no order can have."""

    key = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")


class TaskItem(Model):
    """A task in the state store.

    `shard` and `due` are there only while it waits for something, `attention` and `since` only while an operator
    has to act, `expires_at` (epoch seconds, as DynamoDB wants it) only when it has ended.
    """

    due_index: ClassVar[DueIndex[TaskItem]]
    attention_index: ClassVar[AttentionIndex[TaskItem]]
    INDEXES: ClassVar[Indexes] = {"due_index": DueIndex, "attention_index": AttentionIndex}
    order_id = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    process_state = UnicodeAttribute(attr_name="ProcessState")
    plan_id = UnicodeAttribute(attr_name="Plan")
    created_at = NumberAttribute(attr_name="CreatedAt")
    revision = NumberAttribute(attr_name="Revision")
    write_id = UnicodeAttribute(attr_name="WriteId")
    fence = NumberAttribute(attr_name="Fence")
    fence_base = NumberAttribute(attr_name="FenceBase", null=True)
    shard = NumberAttribute(attr_name="Shard", null=True)
    due = NumberAttribute(attr_name="Due", null=True)
    steps = StepsAttribute(attr_name="Steps")
    history = UnicodeAttribute(attr_name="History", null=True)
    undoing = UnicodeAttribute(attr_name="Undoing", null=True)
    paused = UnicodeAttribute(attr_name="Paused", null=True)
    reply_to = UnicodeAttribute(attr_name="ReplyTo", null=True)
    correlation_id = UnicodeAttribute(attr_name="CorrelationId", null=True)
    attention = NumberAttribute(attr_name="Attention", null=True)
    since = NumberAttribute(attr_name="Since", null=True)
    expires_at = NumberAttribute(attr_name="ExpiresAt", null=True)

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """The item in DynamoDB's JSON; raises Unreadable with the order's id."""
        return readable(super().from_raw_data, data)
