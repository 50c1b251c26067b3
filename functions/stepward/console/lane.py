"""The page of one lane: its position, its events with their bodies, and its commands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import islice

from nicegui import ui

from stepward.app.convoy.history import history, unsequenced_seen, waiting
from stepward.console.dialogs import confirmed
from stepward.console.frame import Console, live, order_address, page, said, state_badge, verbatim
from stepward.console.giving import give_lane
from stepward.domain.convoy.commands import LaneCommand, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Rejected
from stepward.operator.lane_words import event_state, lane_position, lane_state

MOST_EVENTS = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment."""

    lane: Lane
    events: tuple[StoredEvent, ...]


def lane_page(console: Console, key: str) -> None:
    """The page of the lane of this order."""
    with page(console, f"Lane {said(key)}"):
        live(partial(_load, console, key), partial(_draw, console))


def _load(console: Console, key: str) -> Shown:
    lanes = console.connection.lanes
    lane = lanes.load(key)
    if lane is None:
        raise Rejected("orderId", f"{console.stack} has received no event of order {said(key)}")
    past = deque(history(lanes, lane), maxlen=MOST_EVENTS)
    return Shown(lane, (*past, *unsequenced_seen(lanes, lane), *islice(waiting(lanes, lane), MOST_EVENTS)))


def _draw(console: Console, shown: Shown) -> None:
    lane = shown.lane
    following = next((each for each in shown.events if each.position == lane.last + 1), None)
    with ui.row().classes("items-center gap-4"):
        ui.label(f"Lane of order {said(lane.order_id)}").classes("text-xl font-bold")
        state_badge(lane_state(lane))
        ui.link("its order", order_address(lane.order_id))
    ui.label(lane_position(lane, following))
    if not console.read_only:
        _commands(console, lane)
    for each in shown.events:
        title = f"Event {sequence_name(each.position)}: {each.event.op or 'unknown'}, {event_state(lane, each)}"
        with ui.expansion(title).classes("w-full border"):
            if each.skipped or each.event.fault:
                ui.label(each.skipped or each.event.fault)
            verbatim(each.event.body)


def _commands(console: Console, lane: Lane) -> None:
    with ui.row().classes("gap-2"):
        if lane.blocked:
            _button(
                console, "Retry the event", partial(_retry, console, lane), "The event that stops it is tried again."
            )
        if lane.blocked or lane.last < lane.highest:
            position = lane.blocked.position if lane.blocked else lane.last + 1
            event = sequence_name(position)
            note = f"Event {event} has no effect, for good; those behind it follow."
            _button(console, f"Skip event {event}", partial(_skip, console, lane, position), note)


def _button(console: Console, title: str, make: partial[LaneCommand], note: str) -> None:
    def ask() -> None:
        confirmed(console, title, [note], lambda why: give_lane(console, make(why)))

    ui.button(title, on_click=ask).props("dense outline no-caps")


def _retry(console: Console, lane: Lane, why: str) -> LaneCommand:
    return RetryLane(lane.order_id, console.who, why, console.connection.new_id())


def _skip(console: Console, lane: Lane, position: int, why: str) -> LaneCommand:
    return SkipEvent(lane.order_id, position, console.who, why, console.connection.new_id())
