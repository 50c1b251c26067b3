"""What all pages share: the bar on top, the state of what is loaded, and the colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, urlencode

from nicegui import run, ui

from stepward.domain.errors import StepwardError
from stepward.domain.key import spoken
from stepward.operator.connection import Connection
from stepward.operator.wording.logs import Logs

T = TypeVar("T")
EVERY_S, SELDOM_S = 2.0, 10.0
"""How often a page is renewed: that of a single thing, and one that asks for all there is."""
_BAD, _WAITS, _GOOD, _QUIET = "red-9", "amber-8", "green-9", "grey-8"
COLOURS = {
    "Processing": _WAITS,
    "Processed": _GOOD,
    "Error": _BAD,
    "Undoing": _WAITS,
    "Undone": "cyan-10",
    "UndoFailed": _BAD,
    "blocked": _BAD,
    "gap": _WAITS,
    "idle": _WAITS,
    "breaker closed": _GOOD,
    "breaker half-open": _WAITS,
    "breaker open": _BAD,
}
_STYLE = """
a { --q-primary: #1d4ed8; color: #1d4ed8 }
.body--dark a { color: #93c5fd }
.body--dark :is(a, .q-btn--outline, .q-btn--flat, .q-field) { --q-primary: #93c5fd }
header a, .body--dark header a { color: inherit }
.trouble { color: #b91c1c }
.body--dark .trouble { color: #fca5a5 }
body.body--light { background: #fff }
"""
"""Links and buttons that can be read on both grounds."""
PLACES = {"Home": "/", "Orders": "/orders", "Stopped": "/stopped", "Agents": "/agents"}


@dataclass(frozen=True, slots=True)
class Console:
    """What the pages work on: the deployment, its name, and who looks at it; `read_only` refuses every command.

    `typed` is the `stepward` command of these words for the same deployment.
    """

    connection: Connection
    stack: str
    who: str
    typed: Callable[..., str]
    logs: Logs
    production: bool = False
    read_only: bool = False

    @property
    def default(self) -> str:
        """The name of the default workflow."""
        return self.connection.deployment.keys.default


def order_address(key: str) -> str:
    """The page of an order."""
    return f"/orders/{quote(key, safe='')}"


def lane_address(key: str) -> str:
    """The page of an order's lane."""
    return f"/lanes/{quote(key, safe='')}"


def dead_letters_address(queue: str) -> str:
    """The page of the dead letters of a queue."""
    return f"/dead-letters/{quote(queue, safe='')}"


def orders_address(where: str) -> str:
    """The page of the orders that match."""
    return f"/orders?{urlencode({'where': where})}"


@contextmanager
def page(console: Console, title: str) -> Iterator[None]:
    """A page with the bar on top; what is made in the block stands below it."""
    ui.page_title(f"{title} · {console.stack} · Stepward")
    ui.dark_mode(None)
    ui.add_css(_STYLE)
    ui.colors(primary="#b91c1c" if console.production else "#1e3a5f")
    with ui.header().classes("items-center gap-4 px-4 py-2"):
        ui.label(f"Stepward · {console.stack}").classes("text-lg font-bold")
        if console.production:
            ui.badge("PRODUCTION", color="yellow", text_color="black").props("aria-label='This is production'")
        for name, address in PLACES.items():
            ui.link(name, address)
        ui.space()
        wanted = ui.input(placeholder="Order id, or a filter").classes("w-72").mark("search")
        wanted.props("dense dark standout aria-label='Order id, or a filter'")
        wanted.on("keydown.enter", lambda: ui.navigate.to(orders_address(wanted.value or "")))
        ui.label(f"{console.who}{', read only' if console.read_only else ''}")
    ui.keyboard(lambda event: wanted.run_method("focus") if event.key == "/" and event.action.keyup else None)
    with ui.column().classes("w-full max-w-screen-2xl mx-auto p-2 gap-4"):
        yield


def live(load: Callable[[], T], draw: Callable[[T], object], *, once: bool = False, every_s: float = EVERY_S) -> None:
    """Draw what `load` finds, and unless `once` again when it has changed.

    `load` may take its time, and may raise StepwardError.
    """
    box = ui.column().classes("w-full gap-4")
    with box:
        ui.spinner(size="lg").props("aria-label=Loading")
    shown: list[T | str] = []

    async def look() -> None:
        try:
            found: T | str | None = await run.io_bound(load)
        except StepwardError as error:
            found = str(error)
        if found is None or [found] == shown:
            return
        shown[:] = [found]
        box.clear()
        with box:
            if isinstance(found, str):
                failure(found)
            else:
                draw(found)

    ui.timer(0 if once else every_s, look, once=once)


def failure(text: str) -> None:
    """What went wrong, in place of what should be shown."""
    with ui.card().classes("w-full border-l-4 border-red-600"):
        ui.label("This cannot be shown").classes("font-bold")
        ui.label(text).classes("whitespace-pre-wrap")
        ui.label("The page tries again by itself.").classes("opacity-70")


def empty(text: str) -> None:
    """That there is nothing to show."""
    ui.label(text).classes("opacity-70 p-4")


def heading(text: str) -> None:
    """A heading within a page."""
    ui.label(text).classes("text-base font-bold mt-2").props("role=heading aria-level=2")


def state_badge(state: str, text: str = "") -> None:
    """A state, or a text about it, in the colour of the state."""
    colour = COLOURS.get(state, _QUIET)
    ui.badge(text or state, color=colour, text_color="black" if colour == _WAITS else "white").classes("text-sm")


def verbatim(text: str) -> None:
    """A text as it is, in letters of one width."""
    ui.label(text).classes("whitespace-pre-wrap font-mono text-xs").style("overflow-wrap: anywhere")


def command_line(*words: str, console: Console) -> None:
    """The command that does the same in a terminal."""
    verbatim(console.typed(*words))


def said(key: str) -> str:
    """The order as people read it."""
    return spoken(key)
