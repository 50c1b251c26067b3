"""`stepward list --needs-attention`: the orders that wait for an operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from stepward.cli.connection import connect
from stepward.cli.render import state, table
from stepward.cli.terminal import OUT, cell, complain, print_json, say, span
from stepward.cli.where import Where
from stepward.domain.errors import Unreadable
from stepward.domain.facts import FactKind
from stepward.domain.task import ProcessState, Task
from stepward.ports import TaskStore


@dataclass(frozen=True, slots=True)
class Needy:
    """An order that waits for an operator, since when (epoch ms), and why."""

    task: Task
    since: int
    reasons: tuple[str, ...]


def list_needy(where: Where, *, limit: int, as_json: bool) -> None:
    """Print the orders that wait for an operator, the one that has waited longest first."""
    connection = connect(where)
    unreadable: list[str] = []
    found = list(islice(needy(connection.store, unreadable), limit + 1))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"orders": [_document(each) for each in shown], "unreadable": unreadable, "more": more})
        return
    for error in unreadable:
        complain(f"cannot be read: {error}")
    if not shown:
        say(f"No order of stack {where.stack} needs attention.")
        return
    now = connection.now()
    rows = table("Order", "State", "For", "Why")
    for each in shown:
        waited = span(max(0, now - each.since))
        rows.add_row(cell(each.task.order_id), state(each.task.process_state), waited, cell("; ".join(each.reasons)))
    OUT.print(rows)
    count = f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all."
    say(f"{count} What to do about one: {where.typed('show', shown[0].task.order_id)}")


def reasons(task: Task) -> Iterator[str]:
    """Why an order waits for an operator, each in a phrase; nothing if it does not."""
    for record in task.steps.values():
        if record.process_state is ProcessState.ERROR:
            yield f"{record.name}: {record.error or 'Error'}"
    if task.paused:
        paused = next((fact for fact in reversed(task.history) if fact.kind is FactKind.PAUSED), None)
        yield f"paused{f' by {paused.by}' if paused else ''}: {task.paused}"


def needy(store: TaskStore, unreadable: list[str]) -> Iterator[Needy]:
    """What the index lists, as it stands now: the index may be behind. What cannot be read is put in `unreadable`."""
    for order_id in store.needing_attention():
        try:
            loaded = store.load(order_id, with_order=False)
        except Unreadable as error:
            unreadable.append(str(error))
            continue
        if loaded is not None and (since := loaded.task.needs_attention) is not None:
            yield Needy(loaded.task, since, tuple(reasons(loaded.task)))


def _document(needy: Needy) -> dict[str, Any]:
    task = needy.task
    return {
        "orderId": task.order_id,
        "state": task.process_state,
        "since": needy.since,
        "reasons": list(needy.reasons),
        "undoing": task.undoing or None,
        "paused": task.paused or None,
    }
