"""A shop whose orders ship several parcels, each in the same steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from stepward import ALERT, Agent, App, Call, Each, OrderMessage, Step, Workflow, minutes, ref
from stepward.domain.workflow.plan import Exhausted
from stepward.testing import Engine
from stepward.testing.harness import Order

payments, shipping = Agent("payments"), Agent("shipping")


class Parcel(TypedDict):
    weight: int


class Charged(TypedDict):
    split: list[Parcel]


class Basket(TypedDict):
    lines: list[Parcel]


class Sale(OrderMessage, frozen=True, kw_only=True):
    parcels: list[Parcel]
    note: str | None = None
    basket: Basket | None = None


@payments.operation
def charge(_: Call) -> Charged:
    return {"split": parcels(2)}


@payments.operation
def refund(_: Call) -> Mapping[str, Any]:
    return {}


@shipping.operation
def pack(call: Call) -> Mapping[str, Any]:
    return {"box": call.item["weight"]}


@shipping.operation
def unpack(_: Call) -> Mapping[str, Any]:
    return {}


@shipping.operation
def ship(call: Call) -> Mapping[str, Any]:
    return {"weight": call.item["weight"]}


@shipping.operation
def recall(call: Call) -> Mapping[str, Any]:
    return {"of": call.item["weight"]}


@payments.operation
def close(call: Call) -> Mapping[str, Any]:
    return call.results.get("parcels", {})


@payments.operation
def reopen(_: Call) -> Mapping[str, Any]:
    return {}


SHIP = Step(ship, undo=recall, complete_within=minutes(1))
PACK = Step(pack, undo=unpack, complete_within=minutes(1))


def app(*steps: Step, on_failure: Exhausted = ALERT, **wanted: Any) -> App:
    """`charge`, then `steps` for each parcel, two at once, then `close`."""
    each: dict[str, Any] = {"items": ref.order("parcels"), "at_once": 2, **wanted}
    sales = Workflow(
        "sales",
        version=1,
        order=Sale,
        on_failure=on_failure,
        steps=[
            Step(charge, undo=refund, complete_within=minutes(1)),
            Each("parcels", steps=steps or SHIP, **each),
            Step(close, undo=reopen, complete_within=minutes(1)),
        ],
    )
    return App("shop", workflows=[sales])


def parcels(count: int) -> list[Parcel]:
    return [{"weight": at} for at in range(count)]


def begun(shop: App, count: int, **order: Any) -> tuple[Engine, Order]:
    engine = Engine(shop)
    return engine, engine.submit(shop.workflows[0], {"orderId": "1", "parcels": parcels(count), **order})
