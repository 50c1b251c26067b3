"""The shop of which the pages for operators speak, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stepward import UNDO, Agent, App, Call, EventMessage, Step, Workflow, minutes
from stepward.testing.engine import Engine
from tests.architecture.pages.following import Scene
from tests.unit.operator.deployed import of_engine

Result = Mapping[str, Any]
inventory, payments, shipping = Agent("inventory"), Agent("payments"), Agent("shipping")


def named(what: str, call: Call) -> Result:
    """What a service calls its effect: `c-1003` is the charge of the order ord-1003."""
    return {what: f"{what[0]}-{call.idempotency_key.partition('/')[0].removeprefix('ord-')}"}


@inventory.operation
def reserve(call: Call) -> Result:
    return named("reservation", call)


@inventory.operation
def release(call: Call) -> Result:
    return named("release", call)


@payments.operation
def charge(call: Call) -> Result:
    return named("charge", call)


@payments.operation
def refund(call: Call) -> Result:
    return named("refund", call)


@shipping.operation
def ship(call: Call) -> Result:
    return named("shipment", call)


@shipping.operation
def cancel_shipment(call: Call) -> Result:
    return named("void", call)


class ShopEvent(EventMessage, frozen=True, kw_only=True):
    """An event that adds an item, or an amount."""

    item: dict[str, Any] | None = None
    amount: str | None = None


fulfilment = Workflow(
    "fulfilment",
    version=1,
    steps=[
        Step(reserve, undo=release, complete_within=minutes(1)),
        Step(charge, undo=refund, complete_within=minutes(2), threshold=5, on_timeout=UNDO),
        Step(ship, undo=cancel_shipment, complete_within=minutes(10), on_timeout=UNDO),
    ],
)
shop = App("shop", workflows=[fulfilment], event=ShopEvent)
SECONDS = {reserve: 2.6, charge: 1.8, ship: 1.2, cancel_shipment: 0.5, refund: 0.2, release: 0.2}


def at(engine: Engine) -> Scene:
    """Commands are typed at this shop, and its time passes while they wait."""
    return {"connect": lambda _: of_engine(engine), "sleep": engine.clock.move}


@contextmanager
def opened() -> Iterator[Engine]:
    """The shop, with services that take their time."""
    with Engine(shop) as engine:
        for operation, seconds in SECONDS.items():
            engine.service(operation).takes(seconds)
        yield engine
