"""`stepward cost`: estimates what a workflow's orders cost on AWS, from counted requests and dated prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.table import Table

from stepward.cli.cost.estimate import (
    MILLION,
    Assumptions,
    Estimate,
    Line,
    assumptions_by_name,
    estimate,
    measured,
    prices,
)
from stepward.cli.deployment.options import AsJson, WorkflowName
from stepward.cli.terminal import OUT, complain, print_json, say, table
from stepward.domain.errors import Misconfigured, Rejected
from stepward.domain.workflow.definition import AnyStep, Step
from stepward.project import Project

Orders = Annotated[int, typer.Option(min=1, help="How many orders a month.")]
Batch = Annotated[int, typer.Option(min=1, max=10, help="How many messages a busy function gets at once.")]
Steps = Annotated[
    int, typer.Option(min=0, help="How many steps an order has; by default the workflow's.", show_default=False)
]
Named = Annotated[str, typer.Option("--app", help="Your application, as module:name.", show_default="pyproject.toml's")]
Recovered = Annotated[float, typer.Option(min=0, max=1, help="Share of the orders in which a step runs again.")]
Waits = Annotated[float, typer.Option(min=0, help="How many milliseconds an operation waits for its service.")]


def cost(
    *,
    orders: Orders = MILLION,
    batch: Batch = 10,
    steps: Steps = 0,
    app: Named = "",
    workflow: WorkflowName = "",
    recovered: Recovered = 0.0,
    operation_ms: Waits = 0.0,
    as_json: AsJson = False,
) -> None:
    """Estimate what orders cost on AWS in us-east-1, and name every assumption.

    The requests were counted on the real functions, for orders whose steps run one after another. The command uses no
    AWS account.

    Example: stepward cost --orders 200000 --batch 1 --operation-ms 150
    """
    listed = [] if steps else _steps_of(app, workflow)
    counted, extras = steps or len(listed), _extras([each for each in listed if isinstance(each, Step)])
    assumed = replace(Assumptions(), operation_ms=operation_ms)
    try:
        bill = estimate(measured(), steps=counted, batch=batch, recoveries=recovered, assumed=assumed, **extras)
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(2) from None
    if as_json:
        print_json(document(bill, orders=orders, steps=counted, batch=batch, recovered=recovered, assumed=assumed))
        return
    say(f"{orders:,} orders a month of {counted} steps, in batches of {batch}, us-east-1, without free tiers")
    OUT.print(bill_table(bill.per_order, "a million orders", MILLION, f"{orders:,} orders", orders))
    OUT.print(bill_table(bill.per_month, "a month, whatever the orders", 1))
    total = bill.order_usd * orders + bill.month_usd
    storage = sum(line.usd for line in bill.storage) * orders
    say(f"In all ${total:,.2f} a month, and ${storage:,.2f} for each month that these orders are stored.")
    OUT.print(_assumptions(assumed))
    say("Not included: cold starts, data transfer, the remote services themselves, and tax.")
    say("A complete-by of the whole order costs nothing until it passes.")
    if any(extras.values()):
        say("Included: up to a write and a read for each call of an agent with a rate, a write for one with a check.")


def bill_table(lines: Sequence[Line], title: str, times: int, more: str = "", orders: int = 0) -> Table:
    """The lines of a bill as a table, each with its quantity and price."""
    rows = table("", "quantity", "price", f"$ for {title}", *([f"$ for {more}"] if orders else []))
    for column in rows.columns[1:]:
        column.justify = "right"
    for each in lines:
        price = prices()[each.price]
        unit = f"${price['usd']:g}" + (f" / {price['per']:,}" if price["per"] > 1 else "")
        extra = [f"{each.usd * orders:,.2f}"] if orders else []
        rows.add_row(each.name, _amount(each.quantity * times), unit, f"{each.usd * times:,.2f}", *extra)
    total = sum(each.usd for each in lines)
    rows.add_row(
        "in all", "", "", f"{total * times:,.2f}", *([f"{total * orders:,.2f}"] if orders else []), style="bold"
    )
    return rows


def document(
    bill: Estimate, *, orders: int, steps: int, batch: int, recovered: float, assumed: Assumptions
) -> dict[str, Any]:
    """The bill as a JSON document."""

    def lines(listed: Sequence[Line]) -> list[dict[str, Any]]:
        return [{"name": each.name, "quantity": each.quantity, "price": each.price, "usd": each.usd} for each in listed]

    return {
        "orders": orders,
        "steps": steps,
        "batch": batch,
        "recovered": recovered,
        "usdPerMillionOrders": bill.order_usd * MILLION,
        "usdPerMonth": bill.order_usd * orders + bill.month_usd,
        "perOrder": lines(bill.per_order),
        "perMonth": lines(bill.per_month),
        "storage": lines(bill.storage),
        "assumptions": dict(assumptions_by_name(assumed)),
        "prices": dict(prices()),
    }


def _assumptions(assumed: Assumptions) -> Table:
    rows = table("assumed", "")
    for name, value in assumptions_by_name(assumed).items():
        rows.add_row(name.replace("_", " "), f"{value:g}")
    return rows


def _steps_of(app: str, workflow: str) -> Sequence[AnyStep]:
    """The steps of one of the application's workflows; of the default one if `workflow` is empty."""
    try:
        found = Project.here().app(app)
        found.keys.check_workflow(workflow)
        return next(each.steps for each in found.workflows if each.name == (workflow or found.keys.default))
    except (Misconfigured, Rejected) as error:
        complain(f"{error}; or give --steps")
        raise typer.Exit(2) from None


def _extras(steps: Sequence[Step]) -> dict[str, int]:
    """How many of the steps have an agent with a rate, and how many a check."""
    rates, checks = (step.operation.agent.rate > 0 for step in steps), (step.check is not None for step in steps)
    return {"paced": sum(rates), "checked": sum(checks)}


def _amount(quantity: float) -> str:
    """A quantity to three digits, or whole from 100 on."""
    return f"{quantity:,.0f}" if quantity >= 100 else f"{quantity:,.3g}"
