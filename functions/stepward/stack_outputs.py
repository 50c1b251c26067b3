"""The addresses of a deployment's parts: the outputs of its stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from stepward.domain.errors import Misconfigured
from stepward.domain.key import ANY, Keys

_AGAIN = "deploy it again with this version of the code"


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The URLs of a queue and of its dead-letter queue."""

    source: str
    dead: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """The addresses of a deployed stack."""

    orders_queue_url: str
    scheduler_queue_url: str
    responses_queue_url: str
    ledgers_queue_url: str
    customer_ledger_queue_urls: Mapping[str, str]
    order_events_queue_url: str
    agent_queue_urls: Mapping[str, str]
    orders_table: str
    tasks_table: str
    rejects_table: str
    shared_records_table: str
    lanes_table: str
    ledgers_bucket: str
    alerts_topic_arn: str
    supervisor_function: str
    agent_functions: Mapping[str, str]
    shards: int
    dead_letters: Mapping[str, DeadLetters] = field(default_factory=dict)
    keys: Keys = ANY
    rejects_bucket: str = ""
    customer_index_since: str = ""
    """The day since which an index lists the orders of each customer; empty if there is none."""

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, str]) -> Deployment:
        """The deployment that a stack's outputs describe; raises Misconfigured and names what is missing or wrong."""
        return cls(
            orders_queue_url=_text(outputs, "OrdersQueueUrl"),
            scheduler_queue_url=_text(outputs, "SchedulerQueueUrl"),
            responses_queue_url=_text(outputs, "ResponsesQueueUrl"),
            ledgers_queue_url=_text(outputs, "LedgersQueueUrl"),
            customer_ledger_queue_urls=_object(outputs, "CustomerLedgerQueueUrls"),
            order_events_queue_url=_text(outputs, "OrderEventsQueueUrl"),
            agent_queue_urls=_object(outputs, "AgentQueueUrls"),
            orders_table=_text(outputs, "OrdersTableName"),
            tasks_table=_text(outputs, "TasksTableName"),
            rejects_table=_text(outputs, "RejectsTableName"),
            shared_records_table=_text(outputs, "SharedRecordsTableName"),
            lanes_table=_text(outputs, "LanesTableName"),
            ledgers_bucket=_text(outputs, "LedgersBucketName"),
            alerts_topic_arn=_text(outputs, "AlertsTopicArn"),
            supervisor_function=_text(outputs, "SupervisorFunctionName"),
            agent_functions=_object(outputs, "AgentFunctionNames"),
            shards=_whole(outputs, "Shards"),
            dead_letters=_dead_letters(outputs),
            keys=_keys(outputs),
            rejects_bucket=outputs.get("RejectsBucketName", ""),
            customer_index_since=outputs.get("CustomerIndexSince", ""),
        )


def _text(outputs: Mapping[str, str], name: str) -> str:
    if not (value := outputs.get(name, "")):
        raise Misconfigured(f"the stack has no output {name}; {_AGAIN}")
    return value


def _object(outputs: Mapping[str, str], name: str) -> Mapping[str, str]:
    try:
        value = json.loads(_text(outputs, name))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Misconfigured(f"the stack's output {name} is not a JSON object; {_AGAIN}")
    return cast("Mapping[str, str]", value)


def _dead_letters(outputs: Mapping[str, str]) -> Mapping[str, DeadLetters]:
    if "DeadLetterQueueUrls" not in outputs:
        return {}
    found = cast("Mapping[str, Any]", _object(outputs, "DeadLetterQueueUrls"))
    try:
        return {name: DeadLetters(**urls) for name, urls in found.items()}
    except TypeError as error:
        raise Misconfigured(f"the stack's output DeadLetterQueueUrls lacks source or dead URLs; {_AGAIN}") from error


def _keys(outputs: Mapping[str, str]) -> Keys:
    found = cast("Mapping[str, Any]", _object(outputs, "Workflows"))
    try:
        return Keys(tuple(found["names"]), frozenset(found["perCustomer"]), tuple(found.get("types", ANY.types)))
    except (LookupError, TypeError) as error:
        raise Misconfigured(f"the stack's output Workflows lacks names or perCustomer; {_AGAIN}") from error


def _whole(outputs: Mapping[str, str], name: str) -> int:
    value = _text(outputs, name)
    if not (value.isascii() and value.isdigit()):
        raise Misconfigured(f"the stack's output {name}={value!r} is not a whole number; {_AGAIN}")
    return int(value)
