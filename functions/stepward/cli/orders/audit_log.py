"""`stepward audit-log`: who asked what of an order, and the outcome."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from stepward.app.scheduler.audit_log import LONGEST, AuditEntry
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.show import OrderId, key_named, order_named
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, table
from stepward.domain.key import named, spoken


def audit_log(target: Target, order: OrderId, *, as_json: AsJson = False) -> None:
    """Show the commands that people gave for an order and its lane: who, when, why, and whether each was applied.

    The audit log holds the newest fifty. `show` and `convoy show` tell what the system did by itself.

    Example: stepward audit-log ord-1001

    JSON: orderId, workflow, customerId, entries (list of: at (epoch milliseconds), command, step, attempt, who, why,
    applied, note (why it was refused)), oldest first.
    """
    connection = connect(target)
    key = key_named(target, connection, order)
    entries = connection.audit_log.of(key)
    if not entries and connection.lanes.load(key) is None:
        order_named(target, connection, order)
    if as_json:
        print_json(
            {**named(key, connection.deployment.keys.default), "entries": [_document(entry) for entry in entries]}
        )
        return
    if not entries:
        seen = target.typed("show", key)
        say(f"Nobody has given a command for order {spoken(key)}. To see what happened to it: {seen}")
        return
    rows = table("When", "Command", "Who", "Why", "Outcome", least=["When", "Why"])
    for entry in entries:
        command = f"{entry.command} {entry.step}".strip()
        outcome = cell("applied", "green") if entry.applied else cell(f"refused: {entry.note}", "yellow")
        rows.add_row(day_and_time(entry.at), cell(command), cell(entry.who), cell(entry.why), outcome)
    OUT.print(rows)
    if len(entries) == LONGEST:
        say("The audit log holds the newest fifty entries; older ones are in the logs.")


def _document(entry: AuditEntry) -> dict[str, Any]:
    document = asdict(entry)
    del document["revision"]
    absent = {key: None for key in ("step", "attempt", "note") if not document[key]}
    return document | absent
