"""Asks before a command is given: why, what it would do, and, for many, a second time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from stepward.app.scheduler.audit_log import LONGEST_TEXT
from stepward.console.frame import Console, verbatim
from stepward.domain.errors import StepwardError
from stepward.operator.asked import CommandOutcome
from stepward.wire.checked_text import cleaned

Act = Callable[[str], Awaitable[CommandOutcome | None]]


def confirmed(console: Console, title: str, will_do: Sequence[str], act: Act, extra: Callable[[], object]) -> None:
    """Ask why, tell what the command would do, run `act` with the reason, and show what came of it."""
    with ui.context.client.content, ui.dialog() as dialog, ui.card().classes("w-full max-w-2xl"):
        ui.label(title).classes("text-lg font-bold")
        if console.production:
            ui.badge("PRODUCTION", color="red")
        for line in will_do:
            verbatim(line)
        extra()
        why = ui.input("Why, for the audit log").props("autofocus").classes("w-full").mark("why")
        result = ui.label().classes("whitespace-pre-wrap").mark("result")

        async def go() -> None:
            if not (why.value or "").strip():
                result.set_text("Give a reason, in a few words.")
                return
            button.disable()
            result.set_text("Asked; waiting for what comes of it …")
            result.set_text(await _tried(act, cleaned(why.value.strip(), LONGEST_TEXT)))
            close.set_text("Close")

        why.on("keydown.enter", go)
        with ui.row():
            button = ui.button(title.partition(" ")[0], on_click=go).mark("go")
            close = ui.button("Leave it", on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()


async def _tried(act: Act, why: str) -> str:
    try:
        found = await act(why)
    except StepwardError as error:
        return f"Failed: {error}"
    if found is None:
        return "Asked. Nothing came of it within ten seconds; this page shows when something does."
    return found.text if found.applied else f"Refused: {found.text}"
