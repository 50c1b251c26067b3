"""Tables of orders and of rejected messages, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table

from stepward.cli.orders.json_documents import BUSY, done, forward
from stepward.cli.orders.view import state
from stepward.cli.terminal import cell, day_and_time, table
from stepward.domain.key import ANY, Keys, named
from stepward.domain.rejects import Reject
from stepward.domain.task.record import ProcessState, StepRecord, Task

_TASKS_LEAST = ("Steps", "Submitted", "Workflow")


def tasks_table(tasks: Sequence[Task], keys: Keys = ANY) -> Table:
    """Orders in a list; it names their workflow if the application has several."""
    several = len(keys.workflows) > 1
    rows = table("Order", *["Workflow"] * several, "State", "Submitted", "Steps", "Now", least=_TASKS_LEAST)
    for task in tasks:
        busy = ", ".join(_busy(record) for record in task.steps.values() if record.process_state in BUSY)
        rows.add_row(
            cell(task.order_id),
            *[cell(named(task.order_id, keys.default)["workflow"] or "")] * several,
            state(task.process_state),
            day_and_time(task.created_at),
            f"{done(task)}/{len(forward(task))}",
            cell(busy),
        )
    return rows


def rejects_table(rejects: Sequence[Reject]) -> Table:
    """Rejected messages in a list."""
    rows = table("Message", "Received", "Order", "Field", "Reason", least=["Received", "Order", "Field"])
    for reject in rejects:
        rows.add_row(
            cell(reject.message_id[:8]),
            day_and_time(reject.received_at),
            cell(reject.order_id),
            cell(reject.field),
            cell(reject.reason),
        )
    return rows


def reject_view(reject: Reject) -> RenderableType:
    """One rejected message, without its body."""
    grid = table("name", "value")
    grid.show_header = False
    named = {
        "Message": reject.message_id,
        "Received": f"{day_and_time(reject.received_at)}, in {reject.source}",
        "Order": reject.order_id or "unknown",
        "Field": reject.field,
        "Reason": reject.reason,
        "Body": f"{len(reject.body):,} characters; to send it again, save it, and correct it:",
    }
    for name, value in named.items():
        grid.add_row(name, cell(value))
    return grid


def _busy(record: StepRecord) -> str:
    if record.process_state is ProcessState.ERROR:
        return f"{record.name}: {record.error or 'Error'}"
    return f"{record.name}, attempt {record.attempt}"
