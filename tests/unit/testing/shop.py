"""A shop with a warehouse, a bank, and a courier who takes nothing back."""

from collections.abc import Mapping
from typing import Any

from stepward import UNDO, Agent, App, Call, Step, Workflow, minutes
from stepward.testing import Order
from stepward.testing.harness import Harness

warehouse, bank, courier = Agent("warehouse"), Agent("bank"), Agent("courier")
ORDER = {"orderId": "ord-1", "amount": "19.99"}


@warehouse.operation
def reserve(call: Call) -> Mapping[str, Any]:
    return {"reservation": call.idempotency_key}


@warehouse.operation
def release(_: Call) -> Mapping[str, Any]:
    return {}


@bank.operation
def charge(call: Call) -> Mapping[str, Any]:
    return {"charged": call.order.get("amount", "0")}


@bank.operation
def refund(_: Call) -> Mapping[str, Any]:
    return {}


@courier.operation
def ship(call: Call) -> Mapping[str, Any]:
    return {"parcel": call.results["charge"]["charged"]}


fulfilment = Workflow(
    "fulfilment",
    version=1,
    steps=[
        Step(reserve, undo=release, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(1), on_permanent=UNDO),
        Step(ship, complete_within=minutes(5)),
    ],
)
app = App("shop", workflows=[fulfilment])
ALL = ["reserve", "charge", "ship"]


def run(engine: Harness) -> Order:
    """Submit the order, and run the engine until nothing moves."""
    order = engine.submit(fulfilment, ORDER)
    engine.run()
    return order
