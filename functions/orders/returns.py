"""The workflow of a return: send a label, wait for the goods, restock or judge them, pay back, close."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orders.fulfilment import API_KEY, forward_key, inventory, owed_for, payments, reference, shipping
from orders.messages import AS_NEW, Approval, Goods, ReturnRequested
from orders.remote import post
from stepward import ALERT, UNDO, Call, Remind, Signal, Step, Timer, Workflow, days, minutes, ref


@shipping.operation
def send_label(call: Call) -> Mapping[str, Any]:
    """Send the customer a label for the parcel."""
    return {"label": reference(post("shipping/send_label", call, {"purchase": call.order["purchase"]}))}


@shipping.operation
def cancel_label(call: Call) -> Mapping[str, Any]:
    """Undo `send_label`."""
    return {"cancellation": reference(post("shipping/cancel_label", call, {}, undoes=forward_key(call)))}


@inventory.operation
def restock(call: Call) -> Mapping[str, Any]:
    """Put goods that are as new back on sale."""
    items = [{"sku": item["sku"], "qty": item["qty"]} for item in call.order["items"]]
    return {"restocking": reference(post("inventory/restock", call, {"items": items}))}


@inventory.operation
def unstock(call: Call) -> Mapping[str, Any]:
    """Undo `restock`: the goods go back to their owner."""
    return {"unstocking": reference(post("inventory/unstock", call, {}, undoes=forward_key(call)))}


@payments.operation
def pay_back(call: Call) -> Mapping[str, Any]:
    """Pay the customer back: all of it, or the share that was approved."""
    share = call.results.get("approval", {}).get("percent", 100)
    owed = {"amount": owed_for(call.order) * share // 100, "currency": call.order["currency"]}
    body = {"purchase": call.order["purchase"], **owed}
    return {"payment": reference(post("payments/pay_back", call, body, key=API_KEY))}


@payments.operation
def find_payment(call: Call) -> Mapping[str, Any] | None:
    """Find the payment that stands: a bank keeps what was transferred, and no idempotency keys."""
    answer = post("payments/find_payment", call, {}, key=API_KEY)
    return {"payment": reference(answer)} if answer else None


@shipping.operation
def close_return(call: Call) -> Mapping[str, Any]:
    """Tell the carrier that nothing more will come."""
    label = call.results["send_label"]["label"]
    return {"closing": reference(post("shipping/close_return", call, {"label": label}))}


_condition = ref.result("goods", "condition")

returns = Workflow(
    "returns",
    version=1,
    order=ReturnRequested,
    steps=[
        Step(send_label, undo=cancel_label, complete_within=minutes(10), on_timeout=UNDO),
        Signal(
            "goods",
            Goods,
            complete_within=days(30),
            on_timeout=[Remind(days(7), rounds=2), ALERT],
            on_refused=UNDO,
        ),
        Step(restock, undo=unstock, complete_within=minutes(1), when=_condition == AS_NEW),
        Signal(
            "approval",
            Approval,
            by="operators",
            complete_within=days(2),
            on_timeout=[Remind(days(1)), ALERT],
            on_refused=UNDO,
            when=_condition != AS_NEW,
        ),
        Timer("cooling-off", until=ref.order("coolingOffEnds")),
        Step(pay_back, check=find_payment, complete_within=minutes(2), threshold=5, point_of_no_return=True),
        Step(close_return, complete_within=minutes(10)),
    ],
)
