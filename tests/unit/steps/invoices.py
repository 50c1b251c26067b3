"""A shop whose orders have an invoice, which is an order of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from stepward import Agent, App, Call, Child, OrderMessage, Step, Workflow, days, minutes, ref
from stepward.testing import Engine
from stepward.testing.harness import Order

payments, printer = Agent("payments"), Agent("printer")
DAY = 86_400


class Sale(OrderMessage, frozen=True, kw_only=True):
    items: list[str]
    note: str | None = None


class Invoice(OrderMessage, frozen=True, kw_only=True):
    type: Literal["invoice.submitted"] = "invoice.submitted"
    lines: list[str]


class Printed(TypedDict):
    pages: int


@payments.operation
def charge(_: Call) -> Mapping[str, Any]:
    return {}


@payments.operation
def refund(_: Call) -> Mapping[str, Any]:
    return {}


@printer.operation
def number(_: Call) -> Mapping[str, Any]:
    return {}


@printer.operation
def void(_: Call) -> Mapping[str, Any]:
    return {}


@printer.operation
def print_it(call: Call) -> Printed:
    return {"pages": len(call.order["lines"])}


@printer.operation
def shred(_: Call) -> Mapping[str, Any]:
    return {}


@payments.operation
def reopen(_: Call) -> Mapping[str, Any]:
    return {}


@payments.operation
def close(call: Call) -> Mapping[str, Any]:
    return {"pages": call.results.get("invoice", {}).get("pages")}


def invoicing(**printing: Any) -> Workflow:
    steps = [
        Step(number, undo=void, complete_within=minutes(1)),
        Step(print_it, undo=shred, complete_within=minutes(1), **printing),
    ]
    return Workflow("invoicing", version=1, order=Invoice, steps=steps)


def app(part: Workflow | None = None, *last: Any, **wanted: Any) -> App:
    part = part or invoicing()
    steps = [
        Step(charge, undo=refund, complete_within=minutes(1)),
        Child("invoice", part, **{"order": {"lines": ref.order("items")}, "complete_within": days(1), **wanted}),
        *(last or [Step(close, undo=reopen, complete_within=minutes(1))]),
    ]
    sales = Workflow("sales", version=1, order=Sale, steps=steps)
    return App("shop", workflows=[sales, part], default=sales)


def begun(shop: App, **order: Any) -> tuple[Engine, Order, Order]:
    engine = Engine(shop)
    parent = engine.submit(shop.workflows[0], {"orderId": "1", "items": ["a", "b"], **order})
    return engine, parent, engine.order("1#invoice")
