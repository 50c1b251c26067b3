"""The orders, the workflows and the ledger entries that the benchmarks run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepward.cli.cost.priced import AGENTS, REFERENCE, order_id
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.definition import Step, Workflow

_NAMES = ("reserve", "charge", "ship")
CUSTOMER = "customer-7"
ITEM = {"sku": "SKU-1", "qty": 2, "unitPrice": "12.30"}
LONGEST_LEDGER = 500
"""Entries: more must not wait in the queue at once, because its twin scans all of them at each receive."""


def line(steps: int) -> Workflow:
    """`steps` steps, one after another, which three agents share; each answers with a reference."""
    return Workflow("benchmark", 1, [Step(each, complete_within=minutes(10)) for each in operations(steps)])


def side_by_side(steps: int) -> Workflow:
    """`steps` steps that wait for nothing, and one that waits for all of them."""
    *first, last = operations(steps + 1)
    parallel = [Step(each, after=[], complete_within=minutes(10)) for each in first]
    return Workflow("fan", 1, [*parallel, Step(last, after=first, complete_within=minutes(10))])


def operations(count: int) -> Sequence[Operation]:
    """So many operations, which three agents share."""
    agents = [Agent(name) for name in AGENTS]
    return [_operation(agents[number % len(agents)], number) for number in range(count)]


def _operation(agent: Agent, number: int) -> Operation:
    name = _NAMES[number] if number < len(_NAMES) else f"step-{number + 1}"

    def run(call: Call) -> Mapping[str, Any]:
        return {"reference": f"{call.idempotency_key.rpartition('/')[2]}-{REFERENCE}"}

    return Operation(agent, name, run)


def creates(orders: int) -> list[dict[str, Any]]:
    content = {"submittedAt": "2026-01-01T00:00:00Z", "currency": "EUR", "items": [ITEM] * 3}
    return [{"orderId": order_id(number), "sequence": 1, "op": "create", **content} for number in range(orders)]


def adds(orders: int, entries: int, first: int = 2) -> list[dict[str, Any]]:
    """`entries` adds of one line each, the orders in turn; the first of each has the sequence `first`."""
    return [
        {"orderId": order_id(n % orders), "sequence": first + n // orders, "op": "add", "item": ITEM}
        for n in range(entries)
    ]


def ledgers(name: str, entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    for begin in range(0, len(entries), LONGEST_LEDGER):
        share = entries[begin : begin + LONGEST_LEDGER]
        yield json.dumps({"ledgerId": f"{name}-{begin}", "customerId": CUSTOMER, "entries": share})
