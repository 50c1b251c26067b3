"""The kinds of fault that AWS is made to have, as rules of microburst."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from stepward.local.proxy import Rule

LONGER_THAN_A_CLIENT_WAITS_MS = 6_000
EVERY_SERVICE = "*"
_CUT = {"response": {"abort_bytes": 0}}
_SINGLE = ("PutItem", "UpdateItem", "DeleteItem")
_CONFLICT = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
_CANCELLED = {
    "code": "TransactionCanceledException",
    "status": 400,
    "message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
    "[TransactionConflict, None]",
    "fields": {"CancellationReasons": [_CONFLICT, {"Code": "None"}]},
}


class Mischief(Enum):
    """The kinds of fault."""

    THROTTLED = "throttled"
    FAILED = "answered with an error 500, not applied"
    CUT_BEFORE = "connection cut before the request was applied"
    CUT_AFTER = "connection cut after the request was applied"
    TIMED_OUT = "no answer until the client gave up"
    CONFLICT = "transaction cancelled: TransactionConflict"
    DOUBLED = "sent, answer lost, sent again by the SDK"


def rules(kind: Mischief, service: str, chance: float) -> Iterator[Rule]:
    """The rules that make `chance` of the requests to `service` meet `kind`."""
    for rule in _rules(kind, service):
        yield {"service": service, "probability": chance, **rule}


def _rules(kind: Mischief, service: str) -> Sequence[dict[str, Any]]:
    if kind is Mischief.CONFLICT:
        conflict = {"code": "TransactionConflictException", "status": 400}
        single = [_of("dynamodb", operation, error=conflict) for operation in _SINGLE]
        return [_of("dynamodb", "TransactWriteItems", error=_CANCELLED), *single]
    if kind is Mischief.DOUBLED:
        return [_of("sqs", operation, **_CUT) for operation in ("SendMessage", "SendMessageBatch")]
    simple: Mapping[Mischief, dict[str, Any]] = {
        Mischief.THROTTLED: {"error": _throttling(service)},
        Mischief.FAILED: {"error": {"code": "InternalServerError", "status": 500}},
        Mischief.CUT_BEFORE: {"reset": True},
        Mischief.CUT_AFTER: _CUT,
        Mischief.TIMED_OUT: {"timeout_ms": LONGER_THAN_A_CLIENT_WAITS_MS},
    }
    return [simple[kind]]


def _of(service: str, operation: str, **effect: Any) -> dict[str, Any]:
    return {"service": service, "operation": operation, **effect}


def _throttling(service: str) -> dict[str, Any]:
    if service == "dynamodb":
        return {"code": "ProvisionedThroughputExceededException", "status": 400}
    if service == "sqs":
        return {"code": "RequestThrottled", "status": 403}
    return {"code": "ThrottlingException", "status": 400}
