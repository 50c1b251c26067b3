"""What waits for an operator: orders in `stepward list --needs-attention`, lanes in `stepward convoy list`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from rich.text import Text

from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import Target
from stepward.cli.orders.view import state, table
from stepward.cli.terminal import OUT, cell, complain, print_json, say, span
from stepward.domain.errors import Corrupt
from stepward.domain.history import HistoryKind
from stepward.domain.task.record import ProcessState, Task
from stepward.ports import TaskStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order, or its lane, that waits for an operator: since when (epoch ms), why, and what programs are told."""

    order_id: str
    state: Text | str
    since: int
    why: str
    document: dict[str, Any]


Find = Callable[[Connection, list[str]], Iterator[Waiting]]


def list_waiting(target: Target, kind: str, show: str, find: Find, *, limit: int, as_json: bool) -> None:
    """Print what `find` finds, the one that has waited longest first; `show` is the command that looks at one."""
    connection = connect(target)
    corrupt: list[str] = []
    found = list(islice(find(connection, corrupt), limit + 1))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({f"{kind}s": [each.document for each in shown], "unreadable": corrupt, "more": more})
        return
    for error in corrupt:
        complain(f"cannot be read: {error}")
    if not shown:
        say(f"No {kind} of stack {target.stack} waits for an operator.")
        return
    rows = table("Order", "State", "For", "Why")
    for each in shown:
        waited = span(max(0, connection.now() - each.since))
        rows.add_row(cell(each.order_id), each.state, waited, cell(each.why))
    OUT.print(rows)
    count = f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all."
    say(f"{count} What to do about one: {target.typed(*show.split(), shown[0].order_id)}")


def as_they_stand(order_ids: Iterator[str], load: Callable[[str], T | None], corrupt: list[str]) -> Iterator[T]:
    """What an index lists, read anew: the index may be behind. What cannot be read is put in `unreadable`."""
    for order_id in order_ids:
        try:
            found = load(order_id)
        except Corrupt as error:
            corrupt.append(str(error))
            continue
        if found is not None:
            yield found


def needy(store: TaskStore, corrupt: list[str]) -> Iterator[Waiting]:
    """The orders that wait for an operator."""
    load = partial(store.load, with_order=False)
    for loaded in as_they_stand(store.needing_attention(), load, corrupt):
        if (since := loaded.task.needs_attention) is not None:
            yield _waiting(loaded.task, since)


def reasons(task: Task) -> Iterator[str]:
    """Why an order waits for an operator, each in a phrase; nothing if it does not."""
    for record in task.steps.values():
        if record.process_state is ProcessState.ERROR:
            yield f"{record.name}: {record.error or 'Error'}"
    if task.paused:
        paused = next((entry for entry in reversed(task.history) if entry.kind is HistoryKind.PAUSED), None)
        yield f"paused{f' by {paused.by}' if paused else ''}: {task.paused}"


def _waiting(task: Task, since: int) -> Waiting:
    why = list(reasons(task))
    document = {
        "orderId": task.order_id,
        "state": task.process_state,
        "since": since,
        "reasons": why,
        "undoing": task.undoing or None,
        "paused": task.paused or None,
    }
    return Waiting(task.order_id, state(task.process_state), since, "; ".join(why), document)
