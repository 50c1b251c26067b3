"""The first page: what needs an operator, the worst first."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial

from nicegui import ui

from stepward.console.frame import (
    SELDOM_S,
    Console,
    dead_letters_address,
    empty,
    heading,
    lane_address,
    live,
    orders_address,
    page,
    state_badge,
    verbatim,
)
from stepward.domain.coordination.breaker import Breaker, Mode
from stepward.operator.bulk import alike
from stepward.operator.overview import InFlight, Need, Rank, in_flight, overview
from stepward.operator.wording.times import day_and_time, span

_COLOURS = {Rank.GAP: "border-amber-500", Rank.WAITS: "border-amber-500", Rank.REJECTS: "border-amber-500"}

_PLACES = {"agents": "/agents", "list": "/orders", "rejects": "/stopped", "convoy": "/stopped"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows, at one moment."""

    needs: tuple[Need, ...]
    flight: InFlight
    breakers: tuple[tuple[str, Breaker], ...]
    minute: int


def home_page(console: Console) -> None:
    """The first page."""
    with page(console, "Home"):
        live(partial(_load, console), partial(_draw, console), every_s=SELDOM_S)


def _load(console: Console) -> Shown:
    connection = console.connection
    agents = sorted(connection.deployment.agent_queue_urls)
    return Shown(
        needs=tuple(overview(connection)),
        flight=in_flight(connection),
        breakers=tuple((agent, connection.breakers.of(agent)) for agent in agents),
        minute=connection.now() // 60_000,
    )


def _draw(console: Console, shown: Shown) -> None:
    with ui.row().classes("gap-4"):
        _figure("in flight", f"{shown.flight.count:,}{' or more' * shown.flight.more}")
        oldest = min((need.since for need in shown.needs if need.since), default=0)
        now = console.connection.now()
        _figure("oldest wait", span(max(0, now - oldest)) if oldest else "none")
        _figure("needs you", f"{sum(need.count for need in shown.needs):,}")
    heading("What needs you, the worst first")
    if not shown.needs:
        empty("Nothing needs you.")
    for need in shown.needs:
        _card(console, need)
    heading("Agents")
    with ui.row().classes("gap-2"):
        for agent, breaker in shown.breakers:
            is_closed = breaker.mode is Mode.CLOSED and not breaker.pause
            text = f"{agent}: paused by {breaker.pause.who}" if breaker.pause else f"{agent}: {breaker.mode}"
            with ui.link(target="/agents"):
                state_badge("breaker closed" if is_closed else "blocked", text)


def _figure(name: str, value: str) -> None:
    with ui.card().classes("px-6 py-2 items-center"):
        ui.label(value).classes("text-2xl font-bold")
        ui.label(name).classes("opacity-70")


def _card(console: Console, need: Need) -> None:
    with ui.card().classes(f"w-full border-l-4 {_COLOURS.get(need.rank, 'border-red-600')} gap-1 p-3"):
        with ui.row().classes("items-center gap-3"):
            ui.label(f"{need.count:,}{'+' * need.more}").classes("text-xl font-bold")
            ui.link(need.what, address) if (address := _address(need)) else ui.label(need.what)
            if need.since:
                ui.label(f"since {day_and_time(need.since)}").classes("opacity-70")
        ui.label(need.reason).classes("break-all")
        if need.words:
            verbatim(console.typed(*need.words))


def _address(need: Need) -> str:
    """The page that looks closer; "" if none does."""
    match need.words:
        case ("find", *conditions):
            # The card counts those of one reason, whatever numbers are in it; a filter can name only a reason without.
            same = [f"reason={need.reason}"] if alike(need.reason) == need.reason else []
            return orders_address(shlex.join([*conditions, *same]))
        case ("convoy", "show", key):
            return lane_address(key)
        case ("dead-letters", "show", queue):
            return dead_letters_address(queue)
        case (first, *_):
            return _PLACES.get(first, "")
        case _:
            return ""
