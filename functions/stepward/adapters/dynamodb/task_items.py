"""The items of the state store: its tasks, the plans that they share, and what is too large for a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.indexes import IndexedItem
from stepward.adapters.dynamodb.tables import find
from stepward.adapters.dynamodb.task_records import StepsAttribute
from stepward.domain.errors import Corrupt
from stepward.domain.task.record import StepRecord, Task
from stepward.wire.strict_json import canonical, parse

RESULT_PREFIX = "~result#"
"""No order id can begin with it."""


class PlanItem(Model):
    """A plan in a row of its own, in the state store's table, under a key that no order can have."""

    key = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")


class ResultItem(Model):
    """A step's large result in a row of its own, in the same table; `expires_at` is set once its task has ended."""

    key = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")
    expires_at = NumberAttribute(attr_name="ExpiresAt", null=True)


@dataclass(frozen=True, slots=True)
class DynamoResults:
    """The large results of steps; a later answer of the same attempt may replace an earlier one."""

    items: type[ResultItem]

    def of(self, record: StepRecord) -> Mapping[str, Any]:
        """The large result of a step, read consistently; raises Transient or Corrupt."""
        with translated(f"read the result of {record.name} of {record.order_id}"):
            row = find(self.items, result_key(record))
        content = parse(row.body) if row else None
        if not isinstance(content, dict):
            raise Corrupt(f"{record.order_id}: the result of {record.name} is not in the state store")
        return content

    def keep(self, task: Task, expires_at: int | None) -> None:
        """Write the results that are new, before the task that refers to them; raises Transient.

        What goes with a task that has ended expires when it does.
        """
        for record in (record for record in task.steps.values() if record.size):
            with translated(f"store the result of {record.name} of {record.order_id}"):
                if record.result is not None:
                    self.items(result_key(record), body=canonical(record.result), expires_at=expires_at).save()
                elif expires_at is not None and (row := find(self.items, result_key(record))):
                    row.expires_at = expires_at
                    row.save()


def result_key(record: StepRecord) -> str:
    """The key of the row that holds a large result."""
    return f"{RESULT_PREFIX}{record.order_id}/{record.name}/{record.attempt}"


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
