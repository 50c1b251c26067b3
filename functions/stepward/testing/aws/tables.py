"""The tables of a deployment, with the keys and indexes of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import GlobalSecondaryIndexTypeDef, KeySchemaElementTypeDef

_KEYS = {
    "orders": ("OrderID:S",),
    "tasks": ("OrderID:S",),
    "rejects": ("Day:S", "Key:S"),
    "shared_records": ("Name:S",),
    "lanes": ("OrderID:S", "Position:S"),
}
_INDEXES = {"due": ("Shard:N", "Due:N"), "attention": ("Attention:N", "Since:N")}
_INDEXED = ("tasks", "lanes")
_OF_ORDERS = {"customer": ("Customer:S", "Submitted:N")}


def create_table(client: DynamoDBClient, kind: str, name: str, *, by_customer: bool = False) -> str:
    """Create a table of this kind (orders, tasks, rejects, shared_records, lanes); returns its name.

    The orders may have the index `by_customer`.
    """
    indexes = _INDEXES if kind in _INDEXED else _OF_ORDERS if by_customer and kind == "orders" else {}
    attributes = dict.fromkeys([*_KEYS[kind], *(key for keys in indexes.values() for key in keys)])
    made: list[GlobalSecondaryIndexTypeDef] = [
        {"IndexName": index, "KeySchema": _schema(keys), "Projection": {"ProjectionType": "KEYS_ONLY"}}
        for index, keys in indexes.items()
    ]
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": each.partition(":")[0], "AttributeType": "N" if each.endswith(":N") else "S"}
            for each in attributes
        ],
        KeySchema=_schema(_KEYS[kind]),
        **cast("Any", {"GlobalSecondaryIndexes": made} if made else {}),
    )
    return name


def _schema(keys: Sequence[str]) -> list[KeySchemaElementTypeDef]:
    names = [key.partition(":")[0] for key in keys]
    schema: list[KeySchemaElementTypeDef] = [{"AttributeName": names[0], "KeyType": "HASH"}]
    if len(names) > 1:
        schema.append({"AttributeName": names[1], "KeyType": "RANGE"})
    return schema
