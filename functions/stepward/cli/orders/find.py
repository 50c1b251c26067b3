"""`stepward find`: orders by id, customer, state, step, reason and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from rich.table import Table

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.show import Limit, Scan
from stepward.cli.orders.view import STYLES
from stepward.cli.terminal import ERR, OUT, cell, complain, print_json, say, span, table
from stepward.domain.key import Keys, named
from stepward.domain.task.record import ProcessState
from stepward.operator.filters import Filter
from stepward.operator.rows import Row
from stepward.operator.scan import scan
from stepward.operator.search import Page, search, unanswered

Conditions = Annotated[
    list[str] | None,
    typer.Argument(metavar="CONDITION", help="An order's id, or field=text, field~part, field^beginning."),
]
After = Annotated[str, typer.Option(help="Go on from where a search before ended, as that says.", show_default=False)]


def find(
    target: Target,
    conditions: Conditions = None,
    *,
    limit: Limit = 50,
    after: After = "",
    scan_all: Scan = False,
    as_json: AsJson = False,
) -> None:
    """Find orders by the indexes, the newest first: all conditions have to hold.

    Fields: id, customer, workflow, state, step, reason; since and before, with a duration (2h) or a date: since when
    the order waits for an operator, or else when it was submitted. The command reads at most 1,000 orders in flight or
    waiting for an operator before it says that there may be more. Orders that have ended are in no index, unless the
    deployment keeps one by customer: --scan reads the whole state store.

    Examples: stepward find ord-1001 · stepward find customer=acme since=1d · stepward find state=Error reason~declined

    JSON: orders (list of: orderId, workflow, customerId, key, state, step, reason, since, submittedAt, updatedAt (epoch
    milliseconds), needsAttention, alerted), read (how many were read), more, after (for --after, or null), unanswered
    (what no index could answer, or null), corrupt (list of texts: records that cannot be read).
    """
    connection = connect(target)
    words = [word if any(sign in word for sign in "=~^") else f"id={word}" for word in conditions or []]
    wish = Filter.of(words, now=connection.now())
    with ERR.status("Reading the state store"):
        page = scan(connection, wish, limit) if scan_all else search(connection, wish, limit, after)
    missing = "" if scan_all else unanswered(connection, wish)
    if as_json:
        print_json(_document(page, missing, connection.deployment.keys.default))
        return
    for error in page.corrupt:
        complain(f"cannot be read: {error}")
    if page.rows:
        OUT.print(rows_table(page.rows, connection.now(), connection.deployment.keys))
    for sentence in _sentences(page, missing, partial(target.typed, "find", *(conditions or []))):
        say(sentence)
    if page.rows:
        say(f"To see one: {target.typed('show', page.rows[0].key)}")


def _sentences(page: Page, missing: str, again: Callable[..., str]) -> Iterator[str]:
    """How many were found, whether there may be more, and how to get them; `again` is the command with more words."""
    if page.after:
        found = f"{len(page.rows)} found among {page.read:,} read; there may be more:"
        yield f"{found}\n  {again('--after', page.after)}"
    elif page.more:
        yield f"{len(page.rows)} shown; there are more: raise --limit."
    else:
        yield f"{len(page.rows)} in all." if page.rows else "No order was found."
    if missing:
        yield f"{missing} To read the whole state store: {again('--scan')}"


_LEAST = ("For", "Step", "Workflow", "Customer")


def rows_table(rows: Sequence[Row], now: int, keys: Keys) -> Table:
    """Orders in a list; it names workflow and customer where they differ."""
    several, customers = len(keys.workflows) > 1, any(row.customer for row in rows)
    shown = table(
        "Order", *["Workflow"] * several, *["Customer"] * customers, "State", "For", "Step", "Why", least=_LEAST
    )
    for row in rows:
        shown.add_row(
            cell(row.order_id),
            *[cell(row.workflow)] * several,
            *[cell(row.customer)] * customers,
            cell(row.state, STYLES.get(ProcessState(row.state), "")),
            span(max(0, now - row.since)),
            cell(row.step),
            cell(row.reason),
        )
    return shown


def _document(page: Page, missing: str, default: str) -> dict[str, Any]:
    orders = [
        {
            **named(row.key, default),
            "customerId": row.customer or None,
            "key": row.key,
            "state": row.state,
            "step": row.step or None,
            "reason": row.reason or None,
            "since": row.since,
            "submittedAt": row.submitted,
            "updatedAt": row.updated,
            "needsAttention": row.waits,
            "alerted": row.alerted,
        }
        for row in page.rows
    ]
    return {
        "orders": orders,
        "read": page.read,
        "more": page.more,
        "after": page.after or None,
        "unanswered": missing or None,
        "corrupt": list(page.corrupt),
    }
