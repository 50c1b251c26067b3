"""`stepward convoy`: shows the lanes of orders, and sends an operator's commands to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from stepward.app.convoy.history import history, unsequenced_seen, waiting
from stepward.cli.convoy.ask import ask_lane, lane_of
from stepward.cli.convoy.refusals import replacement
from stepward.cli.convoy.view import LaneShown, as_read, lane_document, lane_view, listed_lane, newest
from stepward.cli.convoy.wording import repairs
from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import AsJson, Target, WorkflowName, for_deployment
from stepward.cli.many import Many, for_many
from stepward.cli.orders.attention import Waiting, list_waiting, read_anew
from stepward.cli.orders.commands import Wait, Who, Why, operator, reason
from stepward.cli.orders.files import read
from stepward.cli.orders.show import Limit, OrderId
from stepward.cli.terminal import OUT, print_json, say
from stepward.cli.user_error import UserError
from stepward.domain.convoy.balance import balance_of
from stepward.domain.convoy.commands import ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import position_of
from stepward.operator.bulk import Bulk
from stepward.operator.bulk_lanes import WaitingLanes
from stepward.operator.connection import Connection
from stepward.operator.lane_words import lane_state, why_it_waits
from stepward.wire.order_event import details_of

Event = Annotated[
    str, typer.Argument(metavar="SEQUENCE", help="The event's sequence, or u1, u2 ... for an unsequenced event.")
]
EventFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file with the event as a JSON object; - is standard input.")
]
ShownEvents = Annotated[int, typer.Option(min=1, help="How many applied events to show at most, the newest.")]
app = typer.Typer(
    no_args_is_help=True, help="Lanes, which apply the events of one order each: list, show, retry, skip, replace."
)


def list_lanes(target: Target, *, workflow: WorkflowName = "", limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the orders whose lane waits for an operator, the longest waiting first.

    blocked: an event cannot be applied · gap: an event is missing for long, and later ones have arrived · idle: no
    event has arrived for long, and the last one was not the end. The command uses an index and is always fast.

    Example: stepward convoy list

    JSON: lanes (list of: orderId, workflow, customerId, state, since (epoch milliseconds), event, why, last (applied),
    highest (arrived)), corrupt (list of texts: records that cannot be read), more (whether the list was cut).
    """
    list_waiting(target, "lane", "convoy show", _waiting_lanes, workflow=workflow, limit=limit, as_json=as_json)


def show_lane(target: Target, order: OrderId, *, limit: ShownEvents = 20, as_json: AsJson = False) -> None:
    """Show the lane of an order: the events applied, their balance, what waits and why, and what to type next.

    Examples: stepward convoy show ord-1001 · stepward convoy show ord-1001 --json

    JSON: orderId, workflow, customerId, state (blocked, gap, idle, ended or open), sequenced, last (applied), highest
    (arrived), end (the last event, or null), blocked (null, or: event, reason, since), gapSince, needsAttentionSince
    (epoch milliseconds or null), balance (order (null, or: event, details, history), transactions (list of the same),
    cancelled (an event, or null), skipped (number)), events (list of: event, op, state (applied, skipped, stops the
    lane or waits), why, customerId, ledgerId, index), more (whether older events were left out).
    """
    connection = connect(target)
    seen = lane_of(target, connection, order)
    lane, lanes = seen.lane, connection.lanes
    events = tuple(history(lanes, lane))
    past, more = newest(events, limit)
    ahead = [*unsequenced_seen(lanes, lane), *islice(waiting(lanes, lane), limit)]
    shown = LaneShown(lane, balance_of(events, details_of), tuple(map(as_read, (*past, *ahead))), more)
    if as_json:
        print_json(lane_document(shown, connection.deployment.keys.default))
        return
    OUT.print(lane_view(shown, connection.now()))
    if following := "\n".join(repairs(lane, seen.following, target)):
        say(f"\n{following}")


def retry(
    target: Target, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False
) -> None:
    """Try the event that stops an order's lane again; fix the cause first. The events behind it follow.

    Examples: stepward convoy retry ord-1001 --why "the price list is repaired" · stepward convoy retry --where
    'state=blocked reason~price since=1d' --dry-run

    JSON: command, orderId, workflow, customerId, event, who, why, outcome (applied, refused, or asked: the command did
    not wait, or saw no outcome in time), text, state (the lane's, when last read), last (the last applied event).
    """
    by, why = operator(who), reason(why)
    connection = connect(target)
    before = lane_of(target, connection, order)
    command = RetryLane(before.lane.order_id, by, why, connection.new_id())
    ask_lane(target, connection, before, command, wait=wait, as_json=as_json)


def skip(
    target: Target,
    order: OrderId,
    event: Event,
    *,
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Skip an event that stops the lane or never arrived; it stays in the lane, marked with who and why.

    Example: stepward convoy skip ord-1001 5 --why "the customer withdrew it"

    JSON: the keys of `retry`.
    """
    position = _position(event)
    by, why = operator(who), reason(why)
    connection = connect(target)
    before = lane_of(target, connection, order)
    command = SkipEvent(before.lane.order_id, position, by, why, connection.new_id())
    ask_lane(target, connection, before, command, wait=wait, as_json=as_json)


def replace(
    target: Target,
    order: OrderId,
    event: Event,
    file: EventFile,
    *,
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Replace an event that stops the lane or never arrived by the event in a file.

    The command checks the new event before it sends it: it must be of the same order and have the same sequence. The
    old event goes to the rejects.

    Example: stepward convoy replace ord-1001 5 corrected.json --why "the amount had a comma"

    JSON: the keys of `retry`.
    """
    position = _position(event)
    written = read(file)
    if len(written) != 1:
        raise UserError(f"{file} holds {len(written)} events; leave the one in it that replaces the event")
    by, why = operator(who), reason(why)
    connection = connect(target)
    before = lane_of(target, connection, order)
    body = replacement(before.lane, position, written[0].body, connection.deployment.keys)
    command = ReplaceEvent(before.lane.order_id, position, body, by, why, connection.new_id())
    ask_lane(target, connection, before, command, wait=wait, as_json=as_json)


def _waiting_lanes(connection: Connection, corrupt: list[str]) -> Iterator[Waiting]:
    lanes = connection.lanes
    for lane in read_anew(lanes.needing_attention(), lanes.load, corrupt):
        if (since := lane.needs_attention) is not None:
            document = listed_lane(lane, connection.deployment.keys.default)
            yield Waiting(lane.order_id, lane_state(lane), since, why_it_waits(lane), document)


def _position(event: str) -> int:
    if (position := position_of(event)) is None:
        raise typer.BadParameter(
            f"{event!r} names no event; give a sequence number, or u1, u2 ... for an unsequenced event",
            param_hint="SEQUENCE",
        )
    return position


def _retry_many(many: Many, order: str, *, why: str, who: str, wait: bool, as_json: bool) -> None:
    del wait, as_json
    if order:
        raise typer.BadParameter("name an order, or all that match by --where, not both")
    by, said = operator(who), "a dry run" if many.is_dry else reason(why)
    many.give(lambda bulk: Bulk("retry", bulk, by, said), WaitingLanes)


app.command("list")(for_deployment(list_lanes))
app.command("show")(for_deployment(show_lane))
app.command()(for_deployment(for_many(retry, _retry_many)))
for operation in (skip, replace):
    app.command()(for_deployment(operation))
