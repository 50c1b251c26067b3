"""The page of one lane: its position, its events with their bodies, and its commands."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from nicegui import ui

from stepward.app.convoy.dry_run import read_event
from stepward.app.convoy.history import history, unsequenced_seen, waiting
from stepward.console.dialogs import confirmed, edited
from stepward.console.frame import Console, live, order_address, page, said, state_badge, verbatim
from stepward.console.giving import give_lane
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent, sequence_name
from stepward.domain.convoy.lane import Lane
from stepward.domain.errors import Rejected
from stepward.domain.key import TaskKey
from stepward.operator.lane_words import event_state, lane_position, lane_state
from stepward.operator.outcome import lane_refusal
from stepward.wire.order_event import stored_event

MOST_EVENTS = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment."""

    lane: Lane
    events: tuple[StoredEvent, ...]
    allowed: tuple[str, ...]
    """The commands that the lane would not refuse."""

    @property
    def position(self) -> int:
        """The event that the lane waits for."""
        return self.lane.blocked.position if self.lane.blocked else self.lane.last + 1


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
    shown = Shown(lane, (*past, *unsequenced_seen(lanes, lane), *islice(waiting(lanes, lane), MOST_EVENTS)), ())
    asked: dict[str, LaneCommand] = {
        "retry": RetryLane(key, "", "", ""),
        "skip": SkipEvent(key, shown.position, "", "", ""),
    }
    allowed = (name for name, command in asked.items() if not lane_refusal(console.connection, lane, command))
    return replace(shown, allowed=tuple(allowed))


def _draw(console: Console, shown: Shown) -> None:
    lane = shown.lane
    following = next((each for each in shown.events if each.position == lane.last + 1), None)
    with ui.row().classes("items-center gap-4"):
        ui.label(f"Lane of order {said(lane.order_id)}").classes("text-xl font-bold")
        state_badge(lane_state(lane))
        ui.link("its order", order_address(lane.order_id))
    ui.label(lane_position(lane, following))
    if not console.read_only:
        _commands(console, shown)
    for each in shown.events:
        title = f"Event {sequence_name(each.position)}: {each.event.op or 'unknown'}, {event_state(lane, each)}"
        with ui.expansion(title).classes("w-full border"):
            if each.skipped or each.event.fault:
                ui.label(each.skipped or each.event.fault)
            verbatim(each.event.body)


def _commands(console: Console, shown: Shown) -> None:
    lane, position = shown.lane, shown.position
    event = sequence_name(position)
    order, who, new_id = lane.order_id, console.who, console.connection.new_id
    with ui.row().classes("gap-2"):
        if "retry" in shown.allowed:
            note = "The event that stops the lane is tried again; those behind it follow."
            _button(console, "Retry the event", note, lambda why: RetryLane(order, who, why, new_id()))
        if "skip" in shown.allowed:
            note = f"Event {event} has no effect, for good; those behind it follow."
            _button(console, f"Skip event {event}", note, lambda why: SkipEvent(order, position, who, why, new_id()))
            ask = partial(_ask_replacement, console, shown)
            ui.button(f"Replace event {event}", on_click=ask).props("dense outline no-caps")


def _button(console: Console, title: str, note: str, make: Callable[[str], LaneCommand]) -> None:
    ask = partial(confirmed, console, title, [note], lambda why: give_lane(console, make(why)))
    ui.button(title, on_click=ask).props("dense outline no-caps")


def _ask_replacement(console: Console, shown: Shown) -> None:
    """Have the event edited; while that goes on, tell whether the lane would take it."""
    written: list[Callable[[], str]] = []
    make = partial(replacement, console, shown.lane.order_id, shown.position)

    def check(text: str) -> str:
        refusal = lane_refusal(console.connection, shown.lane, make(text, ""))
        return f"It would be refused: {refusal.text}" if refusal else "The lane would take it."

    title = f"Replace event {sequence_name(shown.position)}"
    note = "The old event, if there is one, goes to the rejects. The new one is applied, and those behind it follow."
    confirmed(
        console,
        title,
        [note],
        lambda why: give_lane(console, make(written[0](), why)),
        lambda: written.append(edited("The event, a JSON object", _body(shown), check)),
    )


def replacement(console: Console, order: str, position: int, text: str, why: str) -> LaneCommand:
    """The command that puts the event in this text into the lane."""
    decode = partial(stored_event, keys=console.connection.deployment.keys)
    body = read_event(decode, text).body
    return ReplaceEvent(order, position, body, console.who, why, console.connection.new_id())


def _body(shown: Shown) -> str:
    """The event to correct; what is known of it if it never came."""
    found = next((each.event.body for each in shown.events if each.position == shown.position), "")
    return found or json.dumps({**TaskKey.read(shown.lane.order_id).fields, "sequence": shown.position, "op": ""})
