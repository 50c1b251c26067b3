"""The views of a lane: for people, and as JSON for programs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepward.app.convoy.dry_run import read_event
from stepward.cli.terminal import cell, day_and_time, json_text, printable, span, table
from stepward.domain.convoy.balance import Balance, Transaction
from stepward.domain.convoy.event import OrderEvent, StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.key import named, spoken
from stepward.operator.lane_words import event_state, lane_position, lane_state, why_it_waits
from stepward.wire.order_event import details_of, stored_event

STYLES = {"blocked": "bold red", "gap": "yellow", "idle": "yellow", "ended": "green", "open": ""}
EVENT_STYLES = {"applied": "green", "skipped": "dim", "stops the lane": "bold red", "waits": "yellow"}
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class LaneShown:
    """A lane with its balance, and the events to show; `more` if older ones are left out."""

    lane: Lane
    balance: Balance
    events: Sequence[StoredEvent]
    more: bool = False


def newest(events: Iterable[StoredEvent], limit: int) -> tuple[tuple[StoredEvent, ...], bool]:
    """The last `limit` of the events, and whether there were more."""
    kept = deque(events, maxlen=limit + 1)
    return tuple(kept)[-limit:], len(kept) > limit


def as_read(stored: StoredEvent) -> StoredEvent:
    """An event; if the application refused it, as the engine reads it without the application."""
    return replace(stored, event=read_event(stored_event, stored.event.body)) if stored.event.fault else stored


def lane_view(shown: LaneShown, now: int) -> RenderableType:
    """One lane: its state, its events, and its balance."""
    parts: list[RenderableType] = [_headline(shown.lane, shown.events, now)]
    if shown.events:
        parts += ["", _events_table(shown)]
    if shown.more:
        parts.append("Older events are left out: raise --limit.")
    if shown.balance.order or shown.balance.additions:
        parts += ["", _balance_table(shown.balance)]
    return Group(*parts)


def listed_lane(lane: Lane, workflow: str = "") -> dict[str, Any]:
    """The JSON document of a lane in a list; `workflow` is the name of the default workflow."""
    position = lane.blocked.position if lane.blocked else lane.last + 1
    return {
        **named(lane.order_id, workflow),
        "state": lane_state(lane),
        "since": lane.needs_attention,
        "event": sequence_name(position),
        "why": why_it_waits(lane),
        "last": lane.last,
        "highest": lane.highest,
    }


def lane_document(shown: LaneShown, workflow: str = "") -> dict[str, Any]:
    """The JSON document of a lane; `workflow` is the name of the default workflow."""
    lane, blocked = shown.lane, shown.lane.blocked
    stop = (
        {"event": sequence_name(blocked.position), "reason": blocked.reason, "since": blocked.since}
        if blocked
        else None
    )
    return {
        **named(lane.order_id, workflow),
        "state": lane_state(lane),
        "sequenced": lane.sequenced,
        "last": lane.last,
        "highest": lane.highest,
        "end": lane.end or None,
        "blocked": stop,
        "gapSince": lane.gap_since,
        "needsAttentionSince": lane.needs_attention,
        "balance": balance_document(shown.balance),
        "events": [_event_document(lane, stored) for stored in shown.events],
        "more": shown.more,
    }


def balance_document(balance: Balance) -> dict[str, Any]:
    """The JSON document of a balance."""
    return {
        "order": _transaction_document(balance.order) if balance.order else None,
        "transactions": [_transaction_document(each) for each in balance.additions.values()],
        "cancelled": sequence_name(balance.cancelled) if balance.cancelled else None,
        "skipped": len(balance.skipped),
    }


def _headline(lane: Lane, events: Sequence[StoredEvent], now: int) -> Text:
    state = lane_state(lane)
    following = next((stored for stored in events if stored.position == lane.last + 1), None)
    return Text.assemble(
        ("Lane of order ", ""),
        (printable(spoken(lane.order_id)), "bold"),
        ": ",
        (state, STYLES[state]),
        *(f"\n{printable(line)}" for line in _lines(lane, following, now)),
    )


def _lines(lane: Lane, following: StoredEvent | None, now: int) -> Iterator[str]:
    yield lane_position(lane, following)
    if not lane.sequenced:
        yield "its events have no sequence numbers: the lane applies them in the order of arrival"
    if lane.deleted:
        yield f"cancelled by event {lane.deleted}"
    since = lane.blocked.since if lane.blocked else lane.gap_since
    if since is not None:
        yield f"since {day_and_time(since)}, for {span(max(0, now - since))}; applied up to event {lane.last}"


def _events_table(shown: LaneShown) -> Table:
    rows = table("Event", "Op", "State", "Content", least=["Op"])
    for stored in shown.events:
        state = event_state(shown.lane, stored)
        rows.add_row(
            sequence_name(stored.position),
            cell(stored.event.op or ""),
            cell(state, EVENT_STYLES[state]),
            cell(_content(shown.lane, stored)),
        )
    return rows


def _balance_table(balance: Balance) -> Table:
    rows = table("Balance", "Changed by", "Now", least=["Changed by"])
    order = [("order", balance.order)] if balance.order else []
    for name, each in (*order, *((f"event {position}", each) for position, each in balance.additions.items())):
        changes = ", ".join(sequence_name(change.position) for change in each.history[1:])
        rows.add_row(name, changes, cell(_cut(json_text(dict(each.details), indent=None))))
    return rows


def _content(lane: Lane, stored: StoredEvent) -> str:
    if stored.skipped:
        return stored.skipped
    if lane.blocked and lane.blocked.position == stored.position:
        return f"{lane.blocked.reason}{_origin(stored.event)}"
    modified = f"of {stored.event.modifies}: " if stored.event.modifies else ""
    return modified + _cut(json_text(dict(details_of(stored.event)), indent=None))


def _origin(event: OrderEvent) -> str:
    """The source of an event that somebody has to correct; "" if it is not known."""
    customer, ledger = _brought_by(event)
    of_customer = f" of {customer}" if customer else ""
    return f" (entry {event.index} of ledger {ledger}{of_customer})" if ledger else ""


def _brought_by(event: OrderEvent) -> tuple[str, str]:
    """The customer and the ledger of an event; each empty if it is not known."""
    customer, _, ledger = event.ledger_id.rpartition("|")
    return customer, ledger


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ..."


def _event_document(lane: Lane, stored: StoredEvent) -> dict[str, Any]:
    customer, ledger = _brought_by(stored.event)
    stops = lane.blocked is not None and lane.blocked.position == stored.position
    why = stored.skipped or (lane.blocked.reason if stops and lane.blocked else "") or stored.event.fault
    return {
        "event": sequence_name(stored.position),
        "op": stored.event.op,
        "state": event_state(lane, stored),
        "why": why or None,
        "customerId": customer or None,
        "ledgerId": ledger or None,
        "index": stored.event.index if stored.event.ledger_id else None,
    }


def _transaction_document(transaction: Transaction) -> dict[str, Any]:
    return {
        "event": sequence_name(transaction.position),
        "details": dict(transaction.details),
        "history": [
            {"event": sequence_name(change.position), "details": dict(change.details)} for change in transaction.history
        ],
    }
