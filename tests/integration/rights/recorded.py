"""Records each call to AWS that the functions make in the tests of this process, by the right that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.client import BaseClient

from stepward.wiring import Handler
from tests.integration.functions import ALL

Right = tuple[str, str, str]
"""A function, what it may do, and the name of what it may do it on."""
NAMES = {id(it.handler): it.name for it in ALL}
COVERED = {
    "SendMessageBatch": "SendMessage",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
    "HeadObject": "GetObject",
}
"""Operations that have no right of their own, and the one that covers each."""
PLACES = ("TableName", "QueueUrl", "TopicArn", "Bucket")
used: set[Right] = set()


def needed(service: str, operation: str, sent: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What one call needs: the rights, and the names of what it needs them on."""
    match operation:
        case "TransactWriteItems":
            for item in sent["TransactItems"]:
                for kind, part in item.items():
                    yield f"dynamodb:{kind}Item", part["TableName"]
        case "BatchGetItem" | "BatchWriteItem":
            for table in sent["RequestItems"]:
                yield f"dynamodb:{operation}", table
        case _:
            place = next((str(sent[name]) for name in PLACES if name in sent), "")
            yield f"{service}:{COVERED.get(operation, operation)}", place.rpartition("/")[2].rpartition(":")[2]


@contextmanager
def recorded() -> Iterator[None]:
    """Add to `used` what the functions need in this block. One function runs at a time, whatever its threads."""
    running = [""]
    call: Callable[..., Any] = vars(BaseClient)["_make_api_call"]
    answer = Handler.__call__

    def called(client: BaseClient, operation: str, sent: Mapping[str, Any]) -> Any:
        who = running[-1] or ("agent" if operation == "GetSecretValue" else "")  # an operation asks for it
        if who:
            service = client.meta.service_model.service_name
            used.update((who, *each) for each in needed(service, operation, sent))
        return call(client, operation, sent)

    def answered(handler: Handler[Any], event: Any, context: Any) -> Any:
        running.append(NAMES.get(id(handler), ""))
        try:
            return answer(handler, event, context)
        finally:
            running.pop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", called)
        patch.setattr(Handler, "__call__", answered)
        yield
