"""Lists what waits for an operator: orders for `list --needs-attention`, lanes for `convoy list`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from rich.text import Text

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.cli.orders.view import state
from stepward.cli.terminal import OUT, cell, complain, print_json, say, span, table
from stepward.cli.user_error import UserError
from stepward.domain.errors import Corrupt, NotUnderstood, Rejected
from stepward.domain.key import Keys, named
from stepward.domain.task.record import Task
from stepward.operator.connection import Connection
from stepward.operator.rows import reasons
from stepward.ports import TaskStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order, or its lane, that waits for an operator: since when (epoch ms), why, and its JSON document."""

    order_id: str
    state: Text | str
    since: int
    why: str
    document: dict[str, Any]


Find = Callable[[Connection, list[str]], Iterator[Waiting]]


def list_waiting(target: Target, kind: str, show: str, find: Find, *, workflow: str, limit: int, as_json: bool) -> None:
    """Print what `find` finds, the longest waiting first; `show` is the command that shows one of them."""
    connection = connect(target)
    is_wanted, corrupt = of_workflow(connection.deployment.keys, workflow), list[str]()
    found = list(islice((each for each in find(connection, corrupt) if is_wanted(each.order_id)), limit + 1))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({f"{kind}s": [each.document for each in shown], "corrupt": corrupt, "more": more})
        return
    for error in corrupt:
        complain(f"cannot be read: {error}")
    if not shown:
        say(f"No {kind}{f' of workflow {workflow}' * bool(workflow)} in stack {target.stack} waits for an operator.")
        return
    several = len(connection.deployment.keys.workflows) > 1
    rows = table("Order", *["Workflow"] * several, "State", "Waiting", "Why", least=["Waiting", "Workflow"])
    for each in shown:
        its = [cell(str(each.document["workflow"]))] * several
        waited = span(max(0, connection.now() - each.since))
        rows.add_row(cell(each.order_id), *its, each.state, waited, cell(each.why))
    OUT.print(rows)
    count = f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all."
    say(f"{count} To see what to do about one: {target.typed(*show.split(), shown[0].order_id)}")


def of_workflow(keys: Keys, workflow: str) -> Callable[[str], bool]:
    """Tells whether a key is one of this workflow, or of any if it is empty; raises UserError if there is none."""
    try:
        keys.check_workflow(workflow)
    except Rejected as fault:
        raise UserError(f"--workflow: {fault.reason}") from fault
    return lambda key: not workflow or named(key, keys.default)["workflow"] == workflow


def read_anew(order_ids: Iterator[str], load: Callable[[str], T | None], corrupt: list[str]) -> Iterator[T]:
    """The records of the orders that an index lists; the index may be behind. Adds to `corrupt` what cannot be read."""
    for order_id in order_ids:
        try:
            found = load(order_id)
        except (Corrupt, NotUnderstood) as error:
            corrupt.append(str(error))
            continue
        if found is not None:
            yield found


def waiting_orders(store: TaskStore, corrupt: list[str], workflow: str = "") -> Iterator[Waiting]:
    """The orders that wait for an operator, the longest waiting first; `workflow` is the default workflow's name."""
    load = partial(store.load, with_order=False)
    for loaded in read_anew(store.needing_attention(), load, corrupt):
        if (since := loaded.task.needs_attention) is not None:
            yield _waiting(loaded.task, since, workflow)


def _waiting(task: Task, since: int, workflow: str) -> Waiting:
    why = list(reasons(task))
    document = {
        **named(task.order_id, workflow),
        "state": task.process_state,
        "since": since,
        "reasons": why,
        "undoing": task.undoing or None,
        "paused": task.paused or None,
    }
    return Waiting(task.order_id, state(task.process_state), since, "; ".join(why), document)
