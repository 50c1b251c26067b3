"""Asks before a command is given: why, what it would do, and, for many, a second time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import run, ui

from stepward.app.scheduler.audit_log import LONGEST_TEXT
from stepward.console.frame import Console, verbatim
from stepward.domain.errors import StepwardError
from stepward.operator.asked import CommandOutcome
from stepward.wire.checked_text import cleaned

Act = Callable[[str], Awaitable[CommandOutcome | None]]


def confirmed(
    console: Console,
    title: str,
    will_do: Sequence[str],
    act: Act,
    extra: Callable[[], object] = lambda: None,
    *,
    asks_why: bool = True,
    count: int = 1,
    what: str = "orders",
) -> None:
    """Tell what the command would do, ask why, run `act` with the reason, and show what came of it.

    If it is for more than one, the `count` of `what` it is for has to be typed.
    """
    with ui.context.client.content, ui.dialog() as dialog, ui.card().classes("w-full max-w-2xl"):
        head(console, title, will_do)
        extra()
        why = ui.input("Why, for the audit log").props("autofocus").classes("w-full").mark("why")
        why.set_visibility(asks_why)
        typed = ui.input("Type how many, to confirm").classes("w-64").mark("count")
        typed.set_visibility(count > 1)
        result = ui.label().classes("whitespace-pre-wrap").mark("result")

        async def go() -> None:
            if lacking := unconfirmed(count, what, (why.value or "") if asks_why else "none", typed.value or ""):
                result.set_text(lacking)
                return
            button.disable()
            result.set_text("Asked; waiting for what comes of it …")
            result.set_text(await _tried(act, cleaned((why.value or "").strip(), LONGEST_TEXT)))
            close.set_text("Close")

        why.on("keydown.enter", go)
        with ui.row():
            button = ui.button(title.partition(" ")[0], on_click=go).mark("go")
            close = ui.button("Leave it", on_click=dialog.close).props("flat")
    dialog.on("hide", dialog.delete)
    dialog.open()


def edited(label: str, text: str, check: Callable[[str], str]) -> Callable[[], str]:
    """A field for a text, and below it what `check` says of it while it is written; what is in the field."""
    field = ui.textarea(label, value=text).props("autogrow").classes("w-full font-mono").mark("body")
    note = ui.label().classes("whitespace-pre-wrap").mark("check")

    async def look() -> None:
        asked = str(field.value)
        try:
            said = await run.io_bound(partial(check, asked))
        except StepwardError as error:
            said = str(error)
        if asked == field.value:
            note.set_text(said or "")

    field.on_value_change(look)
    ui.timer(0, look, once=True)
    return lambda: str(field.value)


def head(console: Console, title: str, will_do: Sequence[str] = ()) -> None:
    """The head of a dialog."""
    ui.label(title).classes("text-lg font-bold")
    if console.production:
        ui.badge("PRODUCTION", color="red")
    for line in will_do:
        verbatim(line)


def unconfirmed(count: int, what: str, why: str, typed: str) -> str:
    """What has to be given before a command for so many is; empty if nothing."""
    if not why.strip():
        return "Give a reason, in a few words."
    if count > 1 and typed.strip() != str(count):
        return f"This is for {count} {what}: type {count} to confirm."
    return ""


async def _tried(act: Act, why: str) -> str:
    try:
        found = await act(why)
    except StepwardError as error:
        return f"Failed: {error}"
    if found is None:
        return "Asked. Nothing came of it within ten seconds; this page shows when something does."
    return found.text if found.applied else f"Refused: {found.text}"
