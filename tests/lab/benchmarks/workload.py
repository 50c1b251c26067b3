"""The orders and workflows that the benchmarks run."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stepward.domain.workflow.definition import Agent, Call, Operation, Step, Workflow, minutes

AGENTS = ("inventory", "payments", "shipping")
_NAMES = ("reserve", "charge", "ship")
REFERENCE = "3f2a9b1c-8d7e-4c5b"


def order_text(number: int, items: int = 3) -> str:
    """An order message with `items` lines; three make about 450 bytes."""
    lines = [{"sku": f"SKU-{line}", "qty": 2, "unitPrice": "12.30"} for line in range(1, items + 1)]
    order = {
        "type": "order.submitted",
        "orderId": order_id(number),
        "version": 1,
        "submittedAt": "2026-01-01T00:00:00Z",
        "customerId": f"customer-{number % 1000}",
        "correlationId": "checkout-5501",
        "currency": "EUR",
        "items": lines,
    }
    return json.dumps(order, separators=(",", ":"))


def order_id(number: int) -> str:
    """The id of the order of that number."""
    return f"7f3c9a52-6d1e-4b8a-9c47-{number:012d}"


def line(steps: int) -> Workflow:
    """`steps` steps, one after another, which three agents share; each answers with a reference."""
    return Workflow("benchmark", 1, [Step(each, complete_within=minutes(10)) for each in _operations(steps)])


def side_by_side(steps: int) -> Workflow:
    """`steps` steps that wait for nothing, and one that waits for all of them."""
    *first, last = _operations(steps + 1)
    parallel = [Step(each, after=[], complete_within=minutes(10)) for each in first]
    return Workflow("fan", 1, [*parallel, Step(last, after=first, complete_within=minutes(10))])


def _operations(count: int) -> Sequence[Operation]:
    agents = [Agent(name) for name in AGENTS]
    return [_operation(agents[number % len(agents)], number) for number in range(count)]


def _operation(agent: Agent, number: int) -> Operation:
    name = _NAMES[number] if number < len(_NAMES) else f"step-{number + 1}"

    def run(call: Call) -> Mapping[str, Any]:
        return {"reference": f"{call.idempotency_key.rpartition('/')[2]}-{REFERENCE}"}

    return Operation(agent, name, run)
