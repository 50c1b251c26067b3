"""`stepward show` and `stepward list`: one order, or many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Annotated

import typer

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, WorkflowName
from stepward.cli.orders.attention import Waiting, list_waiting, of_workflow, waiting_orders
from stepward.cli.orders.json_documents import listed_document, task_document
from stepward.cli.orders.tables import tasks_table
from stepward.cli.orders.view import order_view, stopped_agents, what_next
from stepward.cli.terminal import ERR, OUT, complain, day_and_time, json_text, print_json, say
from stepward.cli.user_error import UserError
from stepward.domain.errors import OtherCustomer, Rejected, Unreadable
from stepward.domain.key import TaskKey, check_customer, child_key, spoken
from stepward.domain.messages import Cancel
from stepward.domain.task.record import Loaded, ProcessState, Task
from stepward.domain.wish import Kept
from stepward.operator.connection import Connection
from stepward.wire.conversion import converted
from stepward.wire.order import KeyText
from stepward.wire.order import OrderId as IdForm

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id, or its task's key as it is printed.")]
WithOrder = Annotated[bool, typer.Option("--order", help="Print the order message, too.")]
State = Annotated[ProcessState | None, typer.Option(case_sensitive=False, help="Only orders in this state.")]
NeedsAttention = Annotated[
    bool, typer.Option("--needs-attention", help="Only orders that wait for an operator, with the reasons.")
]
Limit = Annotated[int, typer.Option(min=1, help="How many to list at most.")]
MOST_SEARCHED = 500
HASH = re.compile(r"[0-9a-f]{32}")
OPTIONS = {"customerId": "--customer", "workflow": "--workflow"}


def show(
    target: Target,
    order: OrderId,
    *,
    with_order: WithOrder = False,
    as_json: AsJson = False,
) -> None:
    """Show an order: its state, its steps, its timeline, and what to type next.

    Examples: stepward show ord-1001 · stepward show ord-1001 --json

    JSON: orderId, customerId (or null), state, workflow, version, submittedAt, endedAt, due, completeBy (of
    the order, or null), timeLimit ("passed", "lifted" or null), undoing and paused (why, or null), needsAttentionSince,
    correlationId (times are epoch milliseconds), steps (list of: name, undoes (a step, or null), kind, agent (or null),
    state, attempt, failures, threshold, lockedBy, startedAt, completeBy, notBefore, endedAt, result, error, lacks,
    raised, signalKept (the id of a signal that came early, or null)), history (list of: at, kind, step, attempt, by,
    note), and with --order: order.
    """
    connection = connect(target)
    loaded = order_named(target, connection, order)
    if as_json:
        print_json(task_document(loaded, with_order=with_order))
        return
    OUT.print(order_view(loaded))
    now = connection.now()
    following = [what_next(loaded, target, now), *stopped_agents(loaded, connection.breakers, target, now)]
    if any(following):
        say("\n" + "\n".join(filter(None, following)))
    if with_order:
        say(f"\n{json_text(loaded.order)}")


def list_orders(
    target: Target,
    *,
    state: State = None,
    workflow: WorkflowName = "",
    needs_attention: NeedsAttention = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List orders, the newest first; or those that need attention, the longest waiting first.

    The command reads the state store until it has found enough orders: in a large store, a rare state takes a while.
    --needs-attention uses an index and is always fast: it finds orders in Error or UndoFailed, and paused ones.

    Examples: stepward list --state undone · stepward list --needs-attention --workflow returns

    JSON: orders (list of: orderId, workflow, customerId, state, submittedAt, endedAt, steps (number), done (number), at
    (the steps that run or are in Error); with --needs-attention: orderId, workflow, customerId, state, since, reasons,
    undoing, paused), corrupt (list of texts: records that cannot be read), more (whether the list was cut).
    """
    if needs_attention:
        if state is not None:
            raise typer.BadParameter("give --state or --needs-attention, not both")
        list_waiting(target, "order", "show", _waiting, workflow=workflow, limit=limit, as_json=as_json)
        return
    connection = connect(target)
    keys = connection.deployment.keys
    found, corrupt = _found(connection, state, of_workflow(keys, workflow), limit + 1)
    shown, more = sorted(found[:limit], key=lambda task: -task.created_at), len(found) > limit
    if as_json:
        print_json(listed_document(shown, corrupt, keys.default, more=more))
        return
    for error in corrupt:
        complain(f"cannot be read: {error}")
    if not shown:
        which = f"{f' of workflow {workflow}' if workflow else ''}{f' in state {state}' if state else ''}"
        say(f"Stack {target.stack} has no orders{which}.")
        return
    OUT.print(tasks_table(shown, keys))
    say(f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all.")


def order_named(target: Target, connection: Connection, order: str) -> Loaded:
    """The order as the state store holds it; if there is none, raises UserError with what to type next."""
    key = key_named(target, connection, order)
    loaded = connection.store.load(key)
    if loaded is None:
        raise UserError(_unknown(target, connection, key))
    try:
        check_customer(target.customer, loaded.order.get("customerId"))
    except OtherCustomer as other:
        raise UserError(f"--customer: {other.reason}") from other
    return loaded


def key_named(target: Target, connection: Connection, order: str) -> str:
    """The key of the task that an operator names by the order's id, or by the key itself; raises UserError.

    A child is named by its parent's id and its steps, `1042#invoice`; where that id was too long, by a hash of it.
    """
    parent, *steps = order.split("#")
    hashed = bool(steps) and HASH.fullmatch(parent) and not (target.customer or target.workflow)
    try:
        if TaskKey.read(order).workflow or hashed:
            return converted(order, KeyText)
        key = connection.deployment.keys.key(converted(parent, IdForm), target.customer, target.workflow)
        return converted(reduce(child_key, steps, key), KeyText)
    except Rejected as fault:
        if fault.field in OPTIONS:
            raise UserError(f"{OPTIONS[fault.field]}: {fault.reason}") from fault
        raise UserError("an order id is 1 to 128 letters, digits and . _ : -; a letter or digit comes first") from fault


def _waiting(connection: Connection, corrupt: list[str]) -> Iterator[Waiting]:
    return waiting_orders(connection.store, corrupt, connection.deployment.keys.default)


def _found(
    connection: Connection, state: ProcessState | None, is_wanted: Callable[[str], bool], most: int
) -> tuple[list[Task], list[str]]:
    """At most `most` tasks with a wanted key, and what is wrong with each corrupt record."""
    found: list[Task] = []
    corrupt: list[str] = []
    with ERR.status("Reading the state store") as status:
        for task in connection.store.every(state):
            if isinstance(task, Unreadable):
                corrupt.append(str(task))
                continue
            if not is_wanted(task.order_id):
                continue
            found.append(task)
            status.update(f"Reading the state store: {len(found)} found")
            if len(found) == most:
                break
    return found, corrupt


def _unknown(target: Target, connection: Connection, key: str) -> str:
    unknown, order_id = f"no order {spoken(key)} in stack {target.stack}", TaskKey.read(key).order_id
    if wish := connection.store.wish(key):
        return f"{unknown}: {'; '.join(map(_kept, wish.kept))}"
    if connection.lanes.load(key) is not None:
        return f"{unknown}, but its lane has events: {target.typed('convoy', 'show', key)}"
    for reject in connection.rejects.newest(MOST_SEARCHED):
        if reject.order_id in (key, order_id):
            return f"{unknown}; a message about it was rejected: {target.typed('rejects', reject.message_id)}"
    return (
        f"{unknown}; it may still be in the queue: try again in a moment, or list all: {target.typed('list')}. "
        "Its submitter can cancel it before it comes"
    )


def _kept(kept: Kept) -> str:
    event, at = kept.event, day_and_time(kept.at)
    if isinstance(event, Cancel):
        asked = f"{event.who} cancelled it on {at} ({event.why})"
        return f"{asked}, before it came; when it comes, it ends Undone at once"
    gave = f"{'refused' if event.refused else 'gave'} the signal {event.step} on {at} ({event.why})"
    return f"{event.who} {gave}, before it came; the signal waits for it"
