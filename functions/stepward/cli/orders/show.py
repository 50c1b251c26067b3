"""Orders: look at one, list them."""

from __future__ import annotations

from typing import Annotated

import typer

from stepward.cli.agents import resting
from stepward.cli.deployment.connection import Connection, connect
from stepward.cli.deployment.options import AsJson, Target
from stepward.cli.orders.attention import list_waiting, needy
from stepward.cli.orders.json_documents import listed_document, task_document
from stepward.cli.orders.tables import tasks_table
from stepward.cli.orders.view import order_view, what_next
from stepward.cli.terminal import ERR, OUT, complain, json_text, print_json, say
from stepward.cli.user_error import UserError
from stepward.domain.errors import Corrupt, Rejected
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.wire.conversion import converted
from stepward.wire.order import OrderId as IdForm

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id.")]
WithOrder = Annotated[bool, typer.Option("--order", help="Print the order itself, too.")]
State = Annotated[ProcessState | None, typer.Option(case_sensitive=False, help="Only orders in this state.")]
NeedsAttention = Annotated[
    bool, typer.Option("--needs-attention", help="Only orders that wait for an operator, with age and reason.")
]
Limit = Annotated[int, typer.Option(min=1, help="How many to show at most.")]
LATELY = 500


def show(
    target: Target,
    order: OrderId,
    *,
    with_order: WithOrder = False,
    as_json: AsJson = False,
) -> None:
    """Show where an order stands, step by step, and all that happened to it.

    Examples: stepward show ord-1001 · stepward show ord-1001 --json

    JSON: orderId, state, workflow, version, submittedAt, endedAt, due, undoing and paused (why, or null),
    needsAttentionSince, correlationId (times are epoch milliseconds), steps (list of: name, undoes (a step, or null),
    agent, state, attempt, failures, threshold, lockedBy, startedAt, completeBy, notBefore, endedAt, result, error),
    history (list of: at, kind, step, attempt, by, note), and with --order: order.
    """
    connection = connect(target)
    loaded = order_named(target, connection, order)
    if as_json:
        print_json(task_document(loaded, with_order=with_order))
        return
    OUT.print(order_view(loaded))
    now = connection.now()
    following = [what_next(loaded, target, now), *resting(loaded, connection.breakers, target, now)]
    if any(following):
        say("\n" + "\n".join(filter(None, following)))
    if with_order:
        say(f"\n{json_text(loaded.order)}")


def list_orders(
    target: Target,
    *,
    state: State = None,
    needs_attention: NeedsAttention = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List orders, newest first among those found; or those that need attention, longest waiting first.

    It looks through the state store until it has found enough; on a large store a rare state takes a while. What needs
    attention is found at once, however large the store is: orders in Error or UndoFailed, and paused ones.

    Examples: stepward list --state undone · stepward list --needs-attention

    JSON: orders (list of: orderId, state, submittedAt, endedAt, steps (number), done (number), at (the steps at
    work or in Error); with --needs-attention: orderId, state, since, reasons, undoing, paused), unreadable (list of
    texts: records that cannot be read), more (whether there are others that were not listed).
    """
    if needs_attention:
        if state is not None:
            raise typer.BadParameter("--state and --needs-attention exclude each other")
        list_waiting(target, "order", "show", lambda c, bad: needy(c.store, bad), limit=limit, as_json=as_json)
        return
    found, corrupt = _found(connect(target), state, limit + 1)
    shown, more = sorted(found[:limit], key=lambda task: -task.created_at), len(found) > limit
    if as_json:
        print_json(listed_document(shown, corrupt, more=more))
        return
    for error in corrupt:
        complain(f"cannot be read: {error}")
    if not shown:
        say(f"No orders{f' in state {state}' if state else ''} in stack {target.stack}.")
        return
    OUT.print(tasks_table(shown))
    say(f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all.")


def order_named(target: Target, connection: Connection, order: str) -> Loaded:
    """The order as it stands; raises Declined, with where to look, if there is none."""
    try:
        converted(order, IdForm)
    except Rejected as fault:
        raise UserError("an order id is 1 to 128 letters, digits and . _ : -, a letter or digit first") from fault
    loaded = connection.store.load(order)
    if loaded is None:
        raise UserError(_unknown(target, connection, order))
    return loaded


def _found(connection: Connection, state: ProcessState | None, most: int) -> tuple[list[Task], list[str]]:
    """The tasks, and what is wrong with the records that cannot be read."""
    found: list[Task] = []
    corrupt: list[str] = []
    with ERR.status("Looking through the state store") as status:
        for task in connection.store.every(state):
            if isinstance(task, Corrupt):
                corrupt.append(str(task))
                continue
            found.append(task)
            status.update(f"Looking through the state store: {len(found)} found")
            if len(found) == most:
                break
    return found, corrupt


def _unknown(target: Target, connection: Connection, order: str) -> str:
    unknown = f"no order {order} in stack {target.stack}"
    if connection.lanes.load(order) is not None:
        return f"{unknown}; events of it have come: {target.typed('convoy', 'show', order)}"
    for reject in connection.rejects.newest(LATELY):
        if reject.order_id == order:
            return f"{unknown}; a message about it was rejected: {target.typed('rejects', reject.message_id)}"
    return f"{unknown}; it may still be in the queue: try again in a moment, or see {target.typed('list')}"
