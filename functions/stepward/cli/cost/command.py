"""`stepward cost`: estimates what a workflow's orders cost on AWS, from counted requests and dated prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from stepward.cli.cost.estimate import (
    MILLION,
    Assumptions,
    Estimate,
    Line,
    Quantities,
    assumptions_by_name,
    estimate,
    measured,
    prices,
)
from stepward.cli.deployment.options import AsJson, WorkflowName
from stepward.cli.terminal import OUT, complain, print_json, say, table
from stepward.domain.errors import Misconfigured, Rejected
from stepward.project import Project

if TYPE_CHECKING:
    from stepward.cli.cost.priced import Priced

Orders = Annotated[int, typer.Option(min=1, help="How many orders a month.")]
Batch = Annotated[int, typer.Option(min=1, max=10, help="How many messages a busy function gets at once.")]
Steps = Annotated[
    int,
    typer.Option(min=0, max=100, help="Price so many calls in a row, not the workflow's steps.", show_default=False),
]
Named = Annotated[str, typer.Option("--app", help="Your application, as module:name.", show_default="pyproject.toml's")]
Recovered = Annotated[float, typer.Option(min=0, max=1, help="Share of the orders in which a step runs again.")]
Waits = Annotated[float, typer.Option(min=0, help="How many milliseconds an operation waits for its service.")]
Skipped = Annotated[list[str], typer.Option("--skip", help="A step whose condition does not hold; may be repeated.")]
Items = Annotated[int, typer.Option(min=1, max=5000, help="How many items an order has, of some 50 bytes each.")]
Bytes = Annotated[int, typer.Option(min=0, max=1_000_000, help="How large each result is; over 2,000 has its own row.")]


def cost(  # noqa: PLR0913 - an option each
    *,
    orders: Orders = MILLION,
    batch: Batch = 10,
    steps: Steps = 0,
    app: Named = "",
    workflow: WorkflowName = "",
    skip: Skipped = [],  # noqa: B006 - typer makes a new list for each call
    items: Items = 3,
    result_bytes: Bytes = 0,
    recovered: Recovered = 0.0,
    operation_ms: Waits = 0.0,
    as_json: AsJson = False,
) -> None:
    """Estimate what orders cost on AWS in us-east-1, and name every assumption.

    An order of the workflow runs in memory, on the engine's own code, and its requests are counted: a service that may
    answer later does, each signal is given in time, timers pass. Your operations are not called, and the command uses
    no AWS account.

    Example: stepward cost --orders 200000 --batch 1 --operation-ms 150
    """
    from stepward.cli.cost.priced import Priced, calls_in_a_row  # noqa: PLC0415 - it loads the adapters of AWS

    priced, paced = (Priced(calls_in_a_row(steps)), 0) if steps else _priced(app, workflow, skip)
    priced = replace(priced, items=items, result_bytes=result_bytes)
    assumed = replace(Assumptions(), operation_ms=operation_ms)
    bill = estimate(_counted(priced, batch), measured(), recoveries=recovered, assumed=assumed, paced=paced)
    given: dict[str, Any] = {"orders": orders, "steps": len(priced.steps), "batch": batch, "recovered": recovered}
    given |= {"kinds": priced.kinds, "skipped": sorted(skip), "items": items, "resultBytes": result_bytes}
    if as_json:
        print_json(document(bill, given, assumed))
        return
    _show(bill, given, assumed)
    _say_what_is_taken(priced.conditions, paced)


def _counted(priced: Priced, batch: int) -> Quantities:
    from stepward.cli.cost.counting import count  # noqa: PLC0415 - it loads the adapters of AWS

    try:
        return count(priced, batch)
    except Misconfigured as error:
        complain(f"{error}; no price is known")
        raise typer.Exit(2) from None


def _say_what_is_taken(conditions: Sequence[str], paced: int) -> None:
    if conditions:
        say(f"Conditions are taken to hold, of {', '.join(conditions)}; --skip NAME prices orders that skip a step.")
    if paced:
        say("Included: up to a write and a read for each call of an agent with a rate.")


def _show(bill: Estimate, given: Mapping[str, Any], assumed: Assumptions) -> None:
    """The bill for people, with all that was assumed."""
    orders, steps, batch = given["orders"], given["steps"], given["batch"]
    say(f"{orders:,} orders a month of {steps} steps, in batches of {batch}, us-east-1, without free tiers")
    say("Steps by kind: " + ", ".join(f"{kind} {many}" for kind, many in given["kinds"].items()))
    OUT.print(bill_table(bill.per_order, "a million orders", MILLION, f"{orders:,} orders", orders))
    OUT.print(bill_table(bill.per_month, "a month, whatever the orders", 1))
    total = bill.order_usd * orders + bill.month_usd
    storage = sum(line.usd for line in bill.storage) * orders
    say(f"In all ${total:,.2f} a month, and ${storage:,.2f} for each month that these orders are stored.")
    OUT.print(_assumptions(assumed))
    say("Not included: cold starts, data transfer, the remote services themselves, and tax.")
    say("A complete-by of the whole order costs nothing until it passes.")


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


def document(bill: Estimate, given: Mapping[str, Any], assumed: Assumptions) -> dict[str, Any]:
    """The bill as a JSON document, with what it was asked for."""

    def lines(listed: Sequence[Line]) -> list[dict[str, Any]]:
        return [{"name": each.name, "quantity": each.quantity, "price": each.price, "usd": each.usd} for each in listed]

    return {
        **given,
        "usdPerMillionOrders": bill.order_usd * MILLION,
        "usdPerMonth": bill.order_usd * given["orders"] + bill.month_usd,
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


def _priced(named: str, workflow: str, skip: Sequence[str]) -> tuple[Priced, int]:
    """The orders of one of the application's workflows, by default of the default one; and its calls with a rate."""
    from stepward.cli.cost.priced import Priced  # noqa: PLC0415 - it loads the adapters of AWS

    try:
        app = Project.here().app(named)
        app.keys.check_workflow(workflow)
    except (Misconfigured, Rejected) as error:
        complain(f"{error}; or give --steps")
        raise typer.Exit(2) from None
    type_ = app.keys.type_of(workflow or app.keys.default)
    priced = Priced(app.plans()[type_], type_, app.keys, skip)
    if unknown := sorted(set(skip) - set(priced.conditions)):
        conditional = ", ".join(priced.conditions) or "no step has a condition"
        complain(f"--skip {unknown[0]}: it has no condition that could fail; those with one: {conditional}")
        raise typer.Exit(2)
    rates = {agent.name for agent in app.agents if agent.rate}
    return priced, sum(step.agent in rates for step in priced.steps if step.name not in skip)


def _amount(quantity: float) -> str:
    """A quantity to three digits, or whole from 100 on."""
    return f"{quantity:,.0f}" if quantity >= 100 else f"{quantity:,.3g}"
