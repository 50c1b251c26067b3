"""What the instruments print at their end, and store in build/bench."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console, RenderableType
from rich.table import Table

ROOT = Path(__file__).parents[2]
errors = Console(stderr=True, highlight=False)
out = Console(width=None if sys.stdout.isatty() else 150)
Progress = Callable[[str], None]
Result = tuple[object, Sequence[RenderableType]]
"""What was measured, dataclasses included, and the tables that show it."""


def table(title: str, *columns: str, rows: Iterable[Sequence[object]] = (), boxed: bool = True) -> Table:
    """A table of these rows: the first column is text, the others are numbers."""
    plain: dict[str, Any] = {} if boxed else {"box": None, "padding": (0, 2, 0, 0), "header_style": "dim"}
    made = Table(title=title, title_justify="left", **plain)
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    for row in rows:
        made.add_row(*map(str, row))
    return made


def store(name: str, found: object) -> None:
    """Write what was measured to build/bench."""
    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(found, indent=1, default=asdict) + "\n")


def verdict(console: Console, faults: Sequence[str], *summaries: str) -> int:
    """Print every fault, and the summaries; the exit code."""
    for fault in faults:
        console.print(fault, style="red", markup=False, soft_wrap=True)
    for summary in summaries:
        style = "red" if faults else "green"
        console.print(summary, style=style, markup=False, highlight=False, soft_wrap=True)
    return 1 if faults else 0


@dataclass(frozen=True, slots=True)
class Machine:
    """Where something was measured; `busy` is how many processes wanted a core in the minute before."""

    cores: int
    memory_gb: int
    system: str
    python: str
    busy: float

    @staticmethod
    def here() -> "Machine":
        return Machine(
            os.cpu_count() or 1,
            round(psutil.virtual_memory().total / 1e9),
            f"{platform.system()} {platform.machine()}",
            platform.python_version(),
            round(os.getloadavg()[0], 1),
        )

    def __str__(self) -> str:
        """One line, with a warning if the machine was busy."""
        text = f"{self.cores} cores, {self.memory_gb} GB, {self.system}, Python {self.python}, load {self.busy:g}"
        idle = self.busy < self.cores / 2
        return text if idle else f"{text}: TOO BUSY with other things; these figures say little"
