"""Shows something again and again, in place, until it is over or Ctrl-C is pressed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.live import Live

from stepward.cli.terminal import OUT

Follow = Annotated[bool, typer.Option("--follow", help="Show it again every two seconds; Ctrl-C ends it.")]
EVERY_S = 2


def follow(
    render: Callable[[], tuple[RenderableType, bool]],
    wait: Callable[[float], object] = sleep,
    *,
    every: float = EVERY_S,
) -> None:
    """Show what `render` makes until it says that there is nothing more to see."""
    with suppress(KeyboardInterrupt), Live(console=OUT, auto_refresh=False, vertical_overflow="visible") as live:
        while True:
            shown, is_over = render()
            live.update(shown, refresh=True)
            if is_over:
                return
            wait(every)
