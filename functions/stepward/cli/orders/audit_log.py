"""`stepward trail`: who asked what of an order, and what came of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from stepward.app.scheduler.audit_log import LONGEST, AuditEntry
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.show import OrderId, order_named
from stepward.cli.orders.view import table
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say


def audit_log(target: Target, order: OrderId, *, as_json: AsJson = False) -> None:
    """Show what people asked of an order: each command, who gave it, why, when, and whether it was applied.

    What was asked of its lane is among them. The newest fifty are kept. What the system did by itself is told by
    `show` and `convoy show`.

    Example: stepward trail ord-1001

    JSON: orderId, entries (list of: at (epoch milliseconds), command, step, attempt, who, why, applied, note (why it
    was refused)), oldest first.
    """
    connection = connect(target)
    entries = connection.audit_log.of(order)
    if not entries and connection.lanes.load(order) is None:
        order_named(target, connection, order)
    if as_json:
        print_json({"orderId": order, "entries": [_document(entry) for entry in entries]})
        return
    if not entries:
        say(f"Nobody asked anything of order {order}. What happened to it: {target.typed('show', order)}")
        return
    rows = table("When", "Command", "Who", "Why", "Outcome")
    for entry in entries:
        command = f"{entry.command} {entry.step}".strip()
        outcome = cell("applied", "green") if entry.applied else cell(f"refused: {entry.note}", "yellow")
        rows.add_row(day_and_time(entry.at), cell(command), cell(entry.who), cell(entry.why), outcome)
    OUT.print(rows)
    if len(entries) == LONGEST:
        say("The newest fifty are kept; older ones are in the logs.")


def _document(entry: AuditEntry) -> dict[str, Any]:
    document = asdict(entry)
    del document["revision"]
    absent = {key: None for key in ("step", "attempt", "note") if not document[key]}
    return document | absent
