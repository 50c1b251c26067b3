"""What orders cost, as tables."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from stepward.cli.cost.estimate import MILLION, Measured, Quantities, estimate
from tests.lab.results import table

_NAMES = ("write units", "read units", "sqs requests", "invocations", "messages")
_COLUMNS = ("", "write units", "read units", "SQS requests", "invocations", "messages")


def of(found: Measured) -> Sequence[Table]:
    """What orders of every measured number of steps cost, alone and in full batches; the bill of three steps."""
    usd = {
        (steps, batch): estimate(found, steps=steps, batch=batch).order_usd * MILLION
        for steps, by_batch in found.orders.items()
        for batch in by_batch
    }
    rows = [
        [f"{steps} steps, batch {batch}", *_billed(found.orders[steps][batch]), f"{usd[steps, batch]:,.2f}"]
        for steps, batch in usd
    ]
    recovery = estimate(found, steps=3, batch=1, recoveries=1).order_usd * MILLION - usd[3, 1]
    rows.append(["one recovery more", *_billed(found.recovery), f"{recovery:,.2f}"])
    title, more = "Billed per order, us-east-1", ("log bytes", "$ / million")
    return [table(title, *_COLUMNS, *more, rows=rows, boxed=False), _lines(found)]


def payloads(found: Mapping[int, Quantities]) -> Table:
    rows = [(f"{items} lines", *_billed(counted)[:5]) for items, counted in found.items()]
    return table("A 3-step order of so many lines, batch 10", *_COLUMNS, rows=rows, boxed=False)


def _billed(counted: Quantities) -> Sequence[str]:
    logged = counted["log bytes"] + counted["metric bytes"]
    return [*(f"{counted[name]:g}" for name in _NAMES), f"{logged:,.0f}"]


def _lines(found: Measured) -> Table:
    alone, full = (estimate(found, steps=3, batch=batch) for batch in (1, 10))
    lines = zip(alone.per_order, full.per_order, strict=True)
    rows = [(one.name, f"{one.usd * MILLION:,.2f}", f"{ten.usd * MILLION:,.2f}") for one, ten in lines]
    made = table("A million 3-step orders, us-east-1", "", "batch 1, $", "batch 10, $", rows=rows, boxed=False)
    made.add_row("in all", f"{alone.order_usd * MILLION:,.2f}", f"{full.order_usd * MILLION:,.2f}", style="bold")
    return made
