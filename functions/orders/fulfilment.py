"""The workflow of an order: reserve the goods, charge the payment, ship; and the undo of each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orders.messages import OrderSubmitted
from orders.money import minor_units
from orders.remote import post
from stepward import UNDO, Agent, Call, Step, Transient, Workflow, minutes

API_KEY = "payments/api-key"

inventory = Agent("inventory", max_concurrency=20)
payments = Agent("payments", max_concurrency=20, secrets=(API_KEY,))
shipping = Agent("shipping", max_concurrency=10)


@inventory.operation
def reserve(call: Call) -> Mapping[str, Any]:
    """Reserve the goods of an order."""
    items = [{"sku": item["sku"], "qty": item["qty"]} for item in call.order["items"]]
    return {"reservation": reference(post("inventory/reserve", call, {"items": items}))}


@inventory.operation
def release(call: Call) -> Mapping[str, Any]:
    """Undo `reserve`."""
    return {"release": reference(post("inventory/release", call, {}, undoes=forward_key(call)))}


@payments.operation
def charge(call: Call) -> Mapping[str, Any]:
    """Charge the customer the order's total."""
    owed = {"amount": owed_for(call.order), "currency": call.order["currency"]}
    return {"charge": reference(post("payments/charge", call, owed, key=API_KEY))}


@payments.operation
def refund(call: Call) -> Mapping[str, Any]:
    """Undo `charge`."""
    return {"refund": reference(post("payments/refund", call, {}, undoes=forward_key(call), key=API_KEY))}


@payments.operation
def find_charge(call: Call) -> Mapping[str, Any] | None:
    """Find the charge that stands; for a payment service without keys, as `Step(charge, check=find_charge)`."""
    answer = post("payments/find_charge", call, {}, key=API_KEY)
    return {"charge": reference(answer)} if answer else None


@shipping.operation
def ship(call: Call) -> Mapping[str, Any]:
    """Ship the reserved goods."""
    reservation = call.results["reserve"]["reservation"]
    return {"shipment": reference(post("shipping/ship", call, {"reservation": reservation}))}


@shipping.operation
def cancel_shipment(call: Call) -> Mapping[str, Any]:
    """Undo `ship`."""
    return {"cancellation": reference(post("shipping/cancel_shipment", call, {}, undoes=forward_key(call)))}


fulfilment = Workflow(
    "fulfilment",
    version=1,
    order=OrderSubmitted,
    steps=[
        Step(reserve, undo=release, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(2), threshold=5, on_timeout=UNDO),
        Step(ship, undo=cancel_shipment, complete_within=minutes(10), on_timeout=UNDO),
    ],
)


def owed_for(order: Mapping[str, Any]) -> int:
    """The order's items and adjustments in the smallest unit of its currency; raises Permanent."""
    lines = [(item["unitPrice"], item["qty"]) for item in order["items"]]
    lines += [(adjustment["amount"], 1) for adjustment in order.get("adjustments") or ()]
    return minor_units(lines, order["currency"])


def forward_key(call: Call) -> str:
    """The key of the call that an undo compensates: the undo's own key without `/undo`."""
    forward, _, suffix = call.idempotency_key.rpartition("/")
    if suffix != "undo":
        raise ValueError(f"{call.idempotency_key} is not the key of an undo; it must end in /undo")
    return forward


def reference(answer: Mapping[str, Any]) -> str:
    """What the service calls its effect; raises Transient if its answer does not say."""
    found = answer.get("reference")
    if not isinstance(found, str) or not 1 <= len(found) <= 128:
        raise Transient("the service answered without a reference; the next attempt asks again with the same key")
    return found
