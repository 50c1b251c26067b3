"""What orders cost, as tables."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from stepward.cli.cost.estimate import MILLION, Quantities, estimate, measured
from tests.lab.results import table

_NAMES = ("write units", "read units", "sqs requests", "invocations", "messages")
_COLUMNS = ("", "write units", "read units", "SQS requests", "invocations", "messages")
_MORE = ("log bytes", "$ / million")

Orders = Mapping[int, Mapping[int, Quantities]]
"""The counts of an order, by its steps and the size of batches."""


def usd(counted: Quantities) -> float:
    """US dollars for a million orders, or steps, that take so much each."""
    return estimate(counted, measured()).order_usd * MILLION


def of(orders: Orders) -> Sequence[Table]:
    """What orders of so many steps cost, alone and in full batches; the bill of three steps."""
    rows = [
        _row(f"{steps} steps, batch {batch}", counted)
        for steps, by_batch in orders.items()
        for batch, counted in by_batch.items()
    ]
    rows.append(_row("one recovery more", measured().recovery))
    title = "Billed per order, us-east-1"
    return [table(title, *_COLUMNS, *_MORE, rows=rows, boxed=False), _lines(orders[3])]


def kinds(found: Mapping[int, Mapping[str, Quantities]]) -> str:
    """What a step of each kind adds to an order, as the table of docs/performance.md; the counts are of batch 1."""
    lines = [
        "| a step more | write units | read units | SQS requests | Lambda runs | $ a million | $ in batches of 10 |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    full = found[10]
    lines += [_of_page(kind, each, ":g", f"{usd(full[kind]):.2f}") for kind, each in found[1].items()]
    return "\n".join(lines)


def items(found: Mapping[int, Quantities]) -> str:
    """What an item of an each costs, by the number of items, as the rows of another table of that page."""
    return "\n".join(_of_page(f"{number:,}", each, ":.1f") for number, each in found.items())


def _of_page(name: str, counted: Quantities, form: str, *more: str) -> str:
    names = ("write units", "read units", "sqs requests", "invocations")
    figures = [f"{{{form}}}".format(counted[each]) for each in names]
    return f"| {' | '.join([name, *figures, f'{usd(counted):.2f}', *more])} |"


def payloads(found: Mapping[int, Quantities]) -> Table:
    rows = [(f"{items} lines", *_billed(counted)[:5]) for items, counted in found.items()]
    return table("A 3-step order of so many lines, batch 10", *_COLUMNS, rows=rows, boxed=False)


def _row(name: str, counted: Quantities) -> Sequence[str]:
    return [name, *_billed(counted), f"{usd(counted):,.2f}"]


def _billed(counted: Quantities) -> Sequence[str]:
    logged = counted["log bytes"] + counted["metric bytes"]
    return [*(f"{round(counted[name], 3):g}" for name in _NAMES), f"{logged:,.0f}"]


def _lines(by_batch: Mapping[int, Quantities]) -> Table:
    alone, full = (estimate(by_batch[batch], measured()) for batch in (1, 10))
    lines = zip(alone.per_order, full.per_order, strict=True)
    rows = [(one.name, f"{one.usd * MILLION:,.2f}", f"{ten.usd * MILLION:,.2f}") for one, ten in lines]
    made = table("A million 3-step orders, us-east-1", "", "batch 1, $", "batch 10, $", rows=rows, boxed=False)
    made.add_row("in all", f"{alone.order_usd * MILLION:,.2f}", f"{full.order_usd * MILLION:,.2f}", style="bold")
    return made
