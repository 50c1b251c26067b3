"""Shows what orders cost: the bill, the same at other volumes beside the peers, and what would save most."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.bar import Bar
from rich.table import Table

from stepward.cli.cost.estimate import MILLION, Assumptions, Line, assumptions_by_name, prices
from stepward.cli.cost.peers import DURABLE, SECONDS_A_MONTH, Work
from stepward.cli.cost.volumes import CHEAPER, VOLUMES, Deployment
from stepward.cli.terminal import OUT, say, table

OWN = "Stepward"
_BAR = 36


def show(deployment: Deployment, work: Work, given: Mapping[str, Any]) -> None:
    """All of it, for people."""
    orders, bill = given["orders"], deployment.estimate(given["orders"])
    say(f"{orders:,} orders a month of {given['steps']} steps, us-east-1, without free tiers")
    say("Steps by kind: " + ", ".join(f"{kind} {many}" for kind, many in given["kinds"].items()))
    storage = sum(each.usd for each in bill.storage) * orders
    say(f"In all ${deployment.usd(orders):,.2f} a month, and ${storage:,.2f} for each month that they are stored.\n")
    OUT.print(volume_table(deployment, work), "", chart(deployment, work, orders), sep="\n")
    say(f"\n{advice(deployment, work, orders)}\n\nWhat is in it:")
    OUT.print(bill_table(bill.per_order, "million", MILLION, f"{orders:,}", orders))
    OUT.print(bill_table(bill.per_month, "month, whatever the orders", 1))
    say(_batches(deployment, orders))
    OUT.print(_assumptions(deployment.assumed))
    say("Not included: data transfer, the remote services themselves, and tax.")
    say("A complete-by of the whole order costs nothing until it passes.")


def volume_table(deployment: Deployment, work: Work) -> Table:
    """Dollars a month at each volume, here and on the peers."""
    rows = table("$ a month", *map(_short, VOLUMES), least=map(_short, VOLUMES[:0:-1]))
    for column in rows.columns[1:]:
        column.justify = "right"
    for name, each in beside_peers(deployment, work, VOLUMES).items():
        rows.add_row(name, *map(_usd, each), style="bold" if name == OWN else "")
    return rows


def beside_peers(deployment: Deployment, work: Work, volumes: Sequence[float]) -> Mapping[str, Sequence[float]]:
    """Dollars a month at each of these volumes, by engine."""
    theirs = [{each.name: each.usd(orders) for each in deployment.peers(work, orders)} for orders in volumes]
    return {OWN: [deployment.usd(orders) for orders in volumes]} | {
        name: [found[name] for found in theirs] for name in theirs[0]
    }


def chart(deployment: Deployment, work: Work, orders: int) -> Table:
    """The same at one volume, as bars."""
    found = {name: usd for name, (usd,) in beside_peers(deployment, work, [orders]).items()}
    rows, most = table(f"$ a month at {orders:,} orders", "", ""), max(found.values())
    for name, usd in sorted(found.items(), key=lambda each: each[1]):
        rows.add_row(name, _usd(usd), Bar(most, 0, usd, width=_BAR), style="bold" if name == OWN else "")
    rows.columns[1].justify = "right"
    return rows


def advice(deployment: Deployment, work: Work, orders: int) -> str:
    """From which volume this is cheaper than durable functions, and the setting that would save most."""
    least = deployment.cheaper_from(work)
    volume = f"from {least:,} orders a month on" if least else "at no volume"
    told = [f"{OWN} costs less than {DURABLE} {volume}."]
    for usd, name in deployment.savings(orders)[:1]:
        value, loss = CHEAPER[name]
        told.append(f"The setting that would save most: {name} = {json.dumps(value)}, ${usd:,.2f} a month; {loss}.")
    return "\n".join(told)


def bill_table(lines: Sequence[Line], title: str, times: int, more: str = "", orders: int = 0) -> Table:
    """The lines of a bill as a table, each with its quantity and price."""
    rows = table(
        "", "quantity", "price", f"$ a {title}", *([f"$ for {more}"] if orders else []), least=["price", "quantity"]
    )
    for column in rows.columns[1:]:
        column.justify = "right"
    for each in lines:
        price = prices()[each.price]
        unit = f"${price['usd']:g}" + (" a million" if price["per"] == MILLION else "")
        extra = [f"{each.usd * orders:,.2f}"] if orders else []
        rows.add_row(each.name, _amount(each.quantity * times), unit, f"{each.usd * times:,.2f}", *extra)
    total = sum(each.usd for each in lines)
    extra = [f"{total * orders:,.2f}"] if orders else []
    rows.add_row("in all", "", "", f"{total * times:,.2f}", *extra, style="bold")
    return rows


def document(deployment: Deployment, work: Work, given: Mapping[str, Any]) -> dict[str, Any]:
    """All of it as a JSON document, with what it was asked for."""

    def lines(listed: Sequence[Line]) -> list[dict[str, Any]]:
        return [{"name": each.name, "quantity": each.quantity, "price": each.price, "usd": each.usd} for each in listed]

    bill, peers = deployment.estimate(given["orders"]), deployment.peers(work, given["orders"])
    return {
        **given,
        "usdPerMillionOrders": bill.order_usd * MILLION,
        "usdPerMonth": deployment.usd(given["orders"]),
        "perOrder": lines(bill.per_order),
        "perMonth": lines(bill.per_month),
        "storage": lines(bill.storage),
        "messagesInARun": deployment.batches(given["orders"]),
        "volumes": {"orders": VOLUMES, "usdPerMonth": beside_peers(deployment, work, VOLUMES)},
        "peers": [{"name": each.name, "note": each.note, "perOrder": lines(each.lines)} for each in peers],
        "cheaperFrom": {each.name: deployment.cheaper_from(work, each.name) for each in peers},
        "savings": {name: usd for usd, name in deployment.savings(given["orders"])},
        "assumptions": dict(assumptions_by_name(deployment.assumed)),
        "prices": dict(prices()),
    }


def _batches(deployment: Deployment, orders: int) -> str:
    found = ", ".join(f"{queue} {size:.1f}" for queue, size in deployment.batches(orders).items())
    return f"At {orders / SECONDS_A_MONTH:.2g} orders a second, evenly, one run handles this many messages: {found}."


def _assumptions(assumed: Assumptions) -> Table:
    rows = table("assumed", "")
    for name, value in assumptions_by_name(assumed).items():
        rows.add_row(name.replace("_", " "), f"{value:g}")
    return rows


def _short(orders: int) -> str:
    return f"{orders // MILLION}M" if orders >= MILLION else f"{orders:,}"


def _usd(usd: float) -> str:
    return f"{usd:,.0f}" if usd >= 1000 else f"{usd:,.2f}"


def _amount(quantity: float) -> str:
    """A quantity to three digits, or whole from 100 on."""
    return f"{quantity:,.0f}" if quantity >= 100 else f"{quantity:,.3g}"
