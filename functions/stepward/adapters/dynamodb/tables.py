"""How the tables look to pynamodb; a model class is made per table name, so nothing is global."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import AttributeDeserializationError, DoesNotExist
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.models import Model

from stepward.adapters.dynamodb.records import StepsAttribute
from stepward.domain.errors import Unreadable

M = TypeVar("M", bound=Model)

RETRIES = 2
"""Of the SDK's standard mode; pynamodb hands no other setting of retries on from a model to its client."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where DynamoDB is and how long a call may take; no `endpoint` means AWS's own.

    The worst case of a call, 3 tries of 1 s + 5 s, fits the shortest function timeout.
    """

    region: str
    endpoint: str | None = None
    credentials: tuple[str, str] | None = None
    """Key id and secret, for an emulator; None takes what the environment provides."""
    connection: Connection = field(init=False, compare=False, repr=False)
    """One for all tables: each of its own would load the SDK's description of DynamoDB again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "connection", Connection(host=self.endpoint, **self._settings()))

    def meta(self, table: str) -> type:
        """The pynamodb settings of one table."""
        return type("Meta", (), {"table_name": table, **self._settings(), "host": self.endpoint})

    def _settings(self) -> dict[str, Any]:
        key_id, secret = self.credentials or (None, None)
        return {
            "aws_access_key_id": key_id,
            "aws_secret_access_key": secret,
            "region": self.region,
            "connect_timeout_seconds": 1,
            "read_timeout_seconds": 5,
            "max_retry_attempts": RETRIES,
        }


class OrderItem(Model):
    """A row of the orders table."""

    order_id = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")
    content_hash = UnicodeAttribute(attr_name="ContentHash")
    write_id = UnicodeAttribute(attr_name="WriteId")


class PlanItem(Model):
    """A plan in a row of its own, in the state store's table, under a key that no order can have."""

    key = UnicodeAttribute(hash_key=True, attr_name="OrderID")
    body = UnicodeAttribute(attr_name="Body")


class DueIndex(GlobalSecondaryIndex["TaskItem"]):  # type: ignore[no-untyped-call]
    """The sparse index of the tasks that wait for something."""

    class Meta:
        """Its name in the table, and that it holds keys only."""

        index_name = "due"
        projection = KeysOnlyProjection()

    shard = NumberAttribute(hash_key=True, attr_name="Shard")
    due = NumberAttribute(range_key=True, attr_name="Due")


class AttentionIndex(GlobalSecondaryIndex["TaskItem"]):  # type: ignore[no-untyped-call]
    """The sparse index of the tasks that wait for an operator."""

    class Meta:
        """Its name in the table, and that it holds keys only."""

        index_name = "attention"
        projection = KeysOnlyProjection()

    attention = NumberAttribute(hash_key=True, attr_name="Attention")
    since = NumberAttribute(range_key=True, attr_name="Since")


class TaskItem(Model):
    """A task in the state store.

    `shard` and `due` are there only while it waits for something, `attention` and `since` only while an operator
    has to act, `expires_at` (epoch seconds, as DynamoDB wants it) only when it has ended.
    """

    due_index: ClassVar[DueIndex]
    attention_index: ClassVar[AttentionIndex]
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
        try:
            return super().from_raw_data(data)
        except (AttributeDeserializationError, Unreadable, LookupError, AttributeError, ValueError) as error:
            raise Unreadable(f"{data['OrderID']['S']}: {error}") from error


class RejectItem(Model):
    """One part of a rejected message; `key` is arrival, message id and part number, `day` its UTC date."""

    day = UnicodeAttribute(hash_key=True, attr_name="Day")
    key = UnicodeAttribute(range_key=True, attr_name="Key")
    source = UnicodeAttribute(attr_name="Source")
    field = UnicodeAttribute(attr_name="Field")
    reason = UnicodeAttribute(attr_name="Reason")
    order_id = UnicodeAttribute(attr_name="OrderID", null=True)
    body = BinaryAttribute(attr_name="Body", legacy_encoding=False)


class ControlItem(Model):
    """A small record that all instances share."""

    name = UnicodeAttribute(hash_key=True, attr_name="Name")
    revision = NumberAttribute(attr_name="Revision")
    write_id = UnicodeAttribute(attr_name="WriteId")
    body = UnicodeAttribute(attr_name="Body")


def bound(model: type[M], table: str, access: Access) -> type[M]:
    """`model` on the table of that name.

    Tasks get indexes of their own: those in the class body would be shared, and read the table that was bound last.
    """
    own = {"due_index": DueIndex(), "attention_index": AttentionIndex()} if issubclass(model, TaskItem) else {}
    made: type[M] = type(model.__name__, (model,), {"Meta": access.meta(table), **own})
    reached = made._get_connection()  # noqa: SLF001 - pynamodb offers no other way to share a connection
    with suppress(ValueError):  # tasks and their plans are in one table, whose keys are known already
        access.connection.add_meta_table(reached.get_meta_table())
    reached.connection = access.connection
    return made


def find(model: type[M], key: str) -> M | None:
    """The row under `key`, read consistently; None if there is none."""
    try:
        return model.get(key, consistent_read=True)
    except DoesNotExist:
        return None
