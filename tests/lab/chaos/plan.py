"""The faults of a run and their times, the same for the same seed; each kind as rules of microburst."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
DRIZZLE = 0.015
"""The share of requests that meets each kind of fault, at all times."""
VICTIMS = ("Submission", "Scheduler", "Agent", "Supervisor", "Ledger", "Convoy")
"""Kinds of functions, by a part of their names."""
_OFTEN = (1, 3, 4, 1, 2, 3)
SERVICES = ("dynamodb", "sqs")


class Mischief(Enum):
    """The kinds of fault."""

    THROTTLED = "throttled"
    FAILED = "answered with an error 500, not applied"
    CUT_BEFORE = "connection cut before the request was applied"
    CUT_AFTER = "connection cut after the request was applied"
    TIMED_OUT = "no answer until the client gave up"
    CONFLICT = "transaction cancelled: TransactionConflict"
    DOUBLED = "sent, answer lost, sent again by the SDK"


ONLY_OF = {Mischief.CONFLICT: "dynamodb", Mischief.DOUBLED: "sqs"}


@dataclass(frozen=True, slots=True)
class Storm:
    """From `at` to `until` (seconds), a large share of the requests to a service meets one kind of fault."""

    at: float
    until: float
    kind: Mischief
    service: str
    chance: float


@dataclass(frozen=True, slots=True)
class Kill:
    """At `at` (seconds), one process of a kind of function is killed, `wait` seconds after it was seen at work."""

    at: float
    victim: str
    wait: float


@dataclass(frozen=True, slots=True)
class Plan:
    """All faults of a run of `seconds`."""

    seconds: float
    storms: Sequence[Storm]
    kills: Sequence[Kill]


def plan(seconds: float, seed: int) -> Plan:
    """Storms and kills for `seconds`."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    return Plan(seconds, tuple(_storms(seconds, chance)), tuple(_kills(seconds, chance)))


def drizzle() -> list[Rule]:
    """The rules at all times."""
    return [rule for kind in Mischief for rule in rules(kind, EVERY_SERVICE, DRIZZLE)]


def weather(storm: Storm) -> list[Rule]:
    """The rules during a storm."""
    return [*rules(storm.kind, storm.service, storm.chance), *drizzle()]


def _storms(seconds: float, chance: random.Random) -> Iterator[Storm]:
    at = chance.uniform(4, 8)
    while at < seconds:
        until = min(seconds, at + chance.uniform(1.5, 4))
        kind = chance.choice(list(Mischief))
        yield Storm(at, until, kind, ONLY_OF.get(kind) or chance.choice(SERVICES), chance.uniform(0.3, 0.8))
        at = until + chance.uniform(4, 8)


def _kills(seconds: float, chance: random.Random) -> Iterator[Kill]:
    at = chance.uniform(3, 6)
    while at < seconds:
        yield Kill(at, chance.choices(VICTIMS, _OFTEN)[0], chance.uniform(0, 0.15))
        at += chance.uniform(1.5, 4)


def rules(kind: Mischief, service: str, chance: float) -> Sequence[Rule]:
    """The rules that make `chance` of the requests to `service` meet `kind`."""
    conflict = {"code": "TransactionConflictException", "status": 400}
    effects: Mapping[Mischief, Sequence[Rule]] = {
        Mischief.CONFLICT: [
            _of("dynamodb", "TransactWriteItems", error=_CANCELLED),
            *(_of("dynamodb", operation, error=conflict) for operation in _SINGLE),
        ],
        Mischief.DOUBLED: [_of("sqs", operation, **_CUT) for operation in ("SendMessage", "SendMessageBatch")],
        Mischief.THROTTLED: [{"error": _throttling(service)}],
        Mischief.FAILED: [{"error": {"code": "InternalServerError", "status": 500}}],
        Mischief.CUT_BEFORE: [{"reset": True}],
        Mischief.CUT_AFTER: [_CUT],
        Mischief.TIMED_OUT: [{"timeout_ms": LONGER_THAN_A_CLIENT_WAITS_MS}],
    }
    return [{"service": service, "probability": chance, **effect} for effect in effects[kind]]


def _of(service: str, operation: str, **effect: Any) -> dict[str, Any]:
    return {"service": service, "operation": operation, **effect}


def _throttling(service: str) -> dict[str, Any]:
    codes = {"dynamodb": ("ProvisionedThroughputExceededException", 400), "sqs": ("RequestThrottled", 403)}
    code, status = codes.get(service, ("ThrottlingException", 400))
    return {"code": code, "status": status}
