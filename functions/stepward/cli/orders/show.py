"""`stepward show` and `stepward list`: one order, or many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, WorkflowName
from stepward.cli.live import Follow, follow
from stepward.cli.orders.attention import Waiting, list_waiting, of_workflow, waiting_orders
from stepward.cli.orders.json_documents import listed_document, task_document
from stepward.cli.orders.tables import tasks_table
from stepward.cli.orders.view import order_view, stopped_agents, what_next
from stepward.cli.terminal import ERR, OUT, complain, day_and_time, json_text, print_json, printable_lines, say
from stepward.cli.user_error import UserError
from stepward.domain.errors import OtherCustomer, Rejected
from stepward.domain.key import Keys, TaskKey, check_customer, child_key, spoken
from stepward.domain.messages import Cancel
from stepward.domain.task.record import Loaded, ProcessState
from stepward.domain.wish import Kept
from stepward.operator.connection import Connection
from stepward.operator.scan import Newest, newest
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
Scan = Annotated[bool, typer.Option("--scan", help="Read the whole state store.")]
MOST_SEARCHED = 500
HASH = re.compile(r"[0-9a-f]{32}")
OPTIONS = {"customerId": "--customer", "workflow": "--workflow"}


def show(
    target: Target,
    order: OrderId,
    *,
    with_order: WithOrder = False,
    follow_it: Follow = False,
    as_json: AsJson = False,
) -> None:
    """Show an order: its state, its steps, its timeline, and what to type next.

    With --follow it is shown again and again, until it has ended.

    Examples: stepward show ord-1001 · stepward show ord-1001 --follow · stepward show ord-1001 --json

    JSON: orderId, customerId (or null), state, workflow, version, submittedAt, endedAt, due, completeBy (of
    the order, or null), timeLimit ("passed", "lifted" or null), undoing and paused (why, or null), needsAttentionSince,
    correlationId (times are epoch milliseconds), steps (list of: name, undoes (a step, or null), kind, agent (or null),
    state, attempt, failures, threshold, lockedBy, startedAt, completeBy, notBefore, endedAt, result, error, lacks,
    raised, signalKept (the id of a signal that came early, or null)), history (list of: at, kind, step, attempt, by,
    note), and with --order: order.
    """
    connection = connect(target)
    if follow_it and not as_json:
        follow(lambda: _followed(target, connection, order))
        return
    loaded = order_named(target, connection, order)
    if as_json:
        print_json(task_document(loaded, with_order=with_order))
        return
    OUT.print(order_view(loaded))
    if following := _following(target, connection, loaded):
        say(f"\n{following}")
    if with_order:
        say(f"\n{json_text(loaded.order)}")


def _following(target: Target, connection: Connection, loaded: Loaded) -> str:
    """What the order waits for, and what to type."""
    now = connection.now()
    return "\n".join(
        filter(None, [what_next(loaded, target, now), *stopped_agents(loaded, connection.breakers, target, now)])
    )


def _followed(target: Target, connection: Connection, order: str) -> tuple[RenderableType, bool]:
    loaded = order_named(target, connection, order)
    following = Text(printable_lines(_following(target, connection, loaded)))
    return Group(order_view(loaded), "", following), loaded.task.has_ended


def list_orders(
    target: Target,
    *,
    state: State = None,
    workflow: WorkflowName = "",
    needs_attention: NeedsAttention = False,
    limit: Limit = 50,
    scan: Scan = False,
    as_json: AsJson = False,
) -> None:
    """List orders, the newest first; or those that need attention, the longest waiting first.

    The command reads the orders in flight and those that wait for an operator by their indexes, and up to a thousand
    others. In a larger store --scan reads all of them. --needs-attention uses an index and is always fast: it finds
    orders in Error or UndoFailed, and paused ones.

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
    ours = of_workflow(keys, workflow)
    with ERR.status("Reading the state store"):
        found = newest(connection, lambda it: state in (None, it.process_state) and ours(it.order_id), limit, scan=scan)
    if as_json:
        print_json(listed_document(found.tasks, found.corrupt, keys.default, more=found.more or not found.whole))
        return
    which = f"{f' of workflow {workflow}' if workflow else ''}{f' in state {state}' if state else ''}"
    _print_list(target, found, which, keys)


def _print_list(target: Target, found: Newest, which: str, keys: Keys) -> None:
    for error in found.corrupt:
        complain(f"cannot be read: {error}")
    if found.tasks:
        OUT.print(tasks_table(found.tasks, keys))
    elif found.whole:
        say(f"Stack {target.stack} has no orders{which}.")
    else:
        say(f"No orders{which} are among those that were read.")
    if not found.whole:
        say("Those that have ended are in no index, and only some of them were read: --scan reads them all.")
    if found.tasks:
        shown = len(found.tasks)
        count = f"{shown} shown; there are more: raise --limit." if found.more else f"{shown} in all."
        say(f"{count} To see one: {target.typed('show', found.tasks[0].order_id)}")


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
