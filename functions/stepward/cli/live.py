"""Shows something again and again, in place, until it is over or Ctrl-C is pressed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from stepward.cli.terminal import OUT, cell, span
from stepward.domain.errors import Transient
from stepward.operator.rights.denials import advice

Follow = Annotated[bool, typer.Option("--follow", help="Show it again every two seconds; Ctrl-C ends it.")]
EVERY_S = 2
Render = Callable[[], tuple[RenderableType, bool]]


def follow(render: Render) -> None:
    """Show what `render` makes until it says that there is nothing more to see, and at last the whole of it.

    What cannot be read at first ends it; later on it shows what it had, says why, and tries again. Raises Transient.
    """
    shown: RenderableType = ""
    live = Live(console=OUT, auto_refresh=False, transient=True, vertical_overflow="ellipsis")
    with suppress(KeyboardInterrupt), live:
        for shown in _frames(render):
            live.update(shown, refresh=True)
    OUT.print(shown)


def _frames(render: Render) -> Iterator[RenderableType]:
    seen, is_over = render()
    yield seen
    failed = 0
    while not is_over:
        sleep(EVERY_S)
        try:
            seen, is_over = render()
        except Transient as error:
            failed += 1
            yield Group(seen, "", _lost(error, failed))
            continue
        failed = 0
        yield seen


def _lost(error: Transient, failed: int) -> Text:
    since = span(1000 * EVERY_S * failed)
    return cell(f"Not read for {since}: {error}. {advice(error) or 'It is tried again.'}", "yellow")
