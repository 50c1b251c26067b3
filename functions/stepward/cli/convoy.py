"""`stepward convoy`: the lanes of orders, and what an operator may do about one."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepward.app.lane_history import history, strays, waiting
from stepward.cli.lane_asking import ask_lane, lane_of
from stepward.cli.lane_refusals import replacement
from stepward.cli.lane_render import LaneShown, as_read, lane_document, lane_view, listed_lane, newest
from stepward.cli.lane_words import lane_state, repairs, why_it_waits
from stepward.cli.operating import Wait, Who, operator, reason
from stepward.cli.order_files import read
from stepward.cli.orders import Limit, OrderId
from stepward.cli.render import table
from stepward.cli.terminal import OUT, cell, complain, print_json, say, span
from stepward.cli.where import AsJson, Declined, Where, for_deployment
from stepward.domain.account import account_of
from stepward.domain.errors import Unreadable
from stepward.domain.lane import Lane
from stepward.domain.lane_commands import ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.order_event import place_of
from stepward.wire.order_event import details_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepward.cli.connection import Connection

Why = Annotated[str, typer.Option(help="Why, in a few words; it is kept with the order.")]
Event = Annotated[
    str, typer.Argument(metavar="SEQUENCE", help="The event's sequence, or u1, u2 ... for one that has none.")
]
EventFile = Annotated[Path, typer.Argument(metavar="FILE", help="The event as a JSON object; - is standard input.")]
ShownEvents = Annotated[int, typer.Option(min=1, help="How many of the newest applied events to show.")]
app = typer.Typer(no_args_is_help=True, help="The lanes of orders: list, show, retry, skip, replace.")


def list_lanes(where: Where, *, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the orders whose lane waits for an operator, the one that has waited longest first.

    blocked: an event could not be applied · gap: one has not come and later ones have, for long · idle: nothing came
    for long, and the last one was not the end. It is found at once, however many lanes there are.

    Example: stepward convoy list

    JSON: lanes (list of: orderId, state, since (epoch milliseconds), event, why, last (applied), highest (that came)),
    unreadable (list of texts: records that cannot be read), more (whether there are others that were not listed).
    """
    connection = where.connect()
    unreadable: list[str] = []
    found = list(islice(_needy(connection, unreadable), limit + 1))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"lanes": [listed_lane(lane) for lane in shown], "unreadable": unreadable, "more": more})
        return
    for error in unreadable:
        complain(f"cannot be read: {error}")
    if not shown:
        say(f"No lane of stack {where.stack} waits for an operator.")
        return
    rows = table("Order", "State", "For", "Why")
    for lane in shown:
        waited = span(max(0, connection.now() - (lane.needs_attention or 0)))
        rows.add_row(cell(lane.order_id), lane_state(lane), waited, cell(why_it_waits(lane)))
    OUT.print(rows)
    count = f"{len(shown)} shown; there are more: raise --limit." if more else f"{len(shown)} in all."
    say(f"{count} What to do about one: {where.typed('convoy', 'show', shown[0].order_id)}")


def show_lane(where: Where, order: OrderId, *, limit: ShownEvents = 20, as_json: AsJson = False) -> None:
    """Show how far the events of an order have come, what they come to, what waits and why, and what to type next.

    Examples: stepward convoy show ord-1001 · stepward convoy show ord-1001 --json

    JSON: orderId, state (blocked, gap, idle, ended or open), sequenced, last (applied), highest (that came), end (the
    last there will be, or null), blocked (null, or: event, reason, since), gapSince, needsAttentionSince (epoch
    milliseconds or null), account (order (null, or: event, details, history), transactions (list of the same),
    cancelled (an event, or null), passedOver (number)), events (list of: event, op, state (applied, passed over, stops
    the lane or waits), why, customerId, ledgerId, index), more (whether older events were left out).
    """
    connection = where.connect()
    seen = lane_of(where, connection, order)
    lane, lanes = seen.lane, connection.lanes
    events = tuple(history(lanes, lane))
    past, more = newest(events, limit)
    ahead = [*strays(lanes, lane), *islice(waiting(lanes, lane), limit)]
    shown = LaneShown(lane, account_of(events, details_of), tuple(map(as_read, (*past, *ahead))), more)
    if as_json:
        print_json(lane_document(shown))
        return
    OUT.print(lane_view(shown, connection.now()))
    if following := "\n".join(repairs(lane, seen.following, where)):
        say(f"\n{following}")


def retry(where: Where, order: OrderId, *, why: Why, who: Who = "", wait: Wait = True, as_json: AsJson = False) -> None:
    """Try the event again that stops an order's lane, once its cause is mended; what waits behind it follows.

    Example: stepward convoy retry ord-1001 --why "the price list is repaired"

    JSON: command, orderId, event, who, why, outcome (applied, refused, or asked if it was not waited for, or nothing
    was seen in time), text, state (the lane's, when last seen), last (the last applied event).
    """
    connection = where.connect()
    command = RetryLane(order, operator(who), reason(why), _asked())
    ask_lane(where, connection, command, wait=wait, as_json=as_json)


def skip(
    where: Where,
    order: OrderId,
    event: Event,
    *,
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Go on without an event, which stops the lane or never came; it stays in the lane, marked with who and why.

    Example: stepward convoy skip ord-1001 5 --why "the customer withdrew it"

    JSON: as of `retry`.
    """
    place = _place(event)
    connection = where.connect()
    command = SkipEvent(order, place, operator(who), reason(why), _asked())
    ask_lane(where, connection, command, wait=wait, as_json=as_json)


def replace(
    where: Where,
    order: OrderId,
    event: Event,
    file: EventFile,
    *,
    why: Why,
    who: Who = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Take the event in a file in place of one that stops the lane or never came.

    The new one is checked before it is sent: it is of the same order and has the same sequence. The old one is kept
    among the rejects.

    Example: stepward convoy replace ord-1001 5 corrected.json --why "the amount had a comma"

    JSON: as of `retry`.
    """
    place = _place(event)
    written = read(file)
    if len(written) != 1:
        raise Declined(f"{file} holds {len(written)} events; one stands in place of one")
    connection = where.connect()
    body = replacement(lane_of(where, connection, order).lane, place, written[0].body)
    command = ReplaceEvent(order, place, body, operator(who), reason(why), _asked())
    ask_lane(where, connection, command, wait=wait, as_json=as_json)


def _needy(connection: Connection, unreadable: list[str]) -> Iterator[Lane]:
    """What the index lists, as it stands now: the index may be behind. What cannot be read is put in `unreadable`."""
    for order_id in connection.lanes.needing_attention():
        try:
            lane = connection.lanes.load(order_id)
        except Unreadable as error:
            unreadable.append(str(error))
            continue
        if lane is not None and lane.needs_attention is not None:
            yield lane


def _place(event: str) -> int:
    if (place := place_of(event)) is None:
        raise typer.BadParameter(
            f"{event!r} names no event; it is a sequence number, or u1, u2 ... for one without", param_hint="SEQUENCE"
        )
    return place


def _asked() -> str:
    # Help must not wait for the AWS SDK.
    from stepward.wiring.clock import new_id  # noqa: PLC0415

    return new_id()


app.command("list")(for_deployment(list_lanes))
app.command("show")(for_deployment(show_lane))
for operation in (retry, skip, replace):
    app.command()(for_deployment(operation))
