"""Faults between the lanes' adapter and DynamoDB, and a count of what passes there."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from stepward.adapters.dynamodb.lanes import DynamoLanes
from tests.integration.dynamodb.faults import Send

OPERATIONS = ("GetItem", "PutItem", "Query", "BatchWriteItem", "TransactWriteItems")


def _events(lanes: DynamoLanes) -> Any:
    return lanes.connection.client.meta.events


def intercept(lanes: DynamoLanes, operation: str, send: Send) -> None:
    """Let `send` stand between the lanes and DynamoDB; None lets a request through."""
    _events(lanes).register_first(f"before-send.dynamodb.{operation}", lambda request, **_: send(request))


def rewrite(lanes: DynamoLanes, operation: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Let `change` alter each answer before the adapter sees it."""
    _events(lanes).register(f"after-call.dynamodb.{operation}", lambda parsed, **_: change(parsed))


def counted(lanes: DynamoLanes) -> Counter[str]:
    """The requests that go out from now on, by operation, as they come."""
    found: Counter[str] = Counter()
    for operation in OPERATIONS:
        _events(lanes).register(
            f"before-send.dynamodb.{operation}", lambda operation=operation, **_: found.update([operation])
        )
    return found
