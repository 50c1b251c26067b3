"""What a person sees in a terminal."""

import io

from rich.console import Console, RenderableType


def printed(what: RenderableType, width: int = 120) -> str:
    """What a terminal of that width shows."""
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
