"""What happened in a world: lines, only if somebody will read them, and figures, always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from stepward.testing.faults.loop import START, Loop


@dataclass(slots=True, repr=False)
class Diary:
    """Lines about orders, each at its time; `counts` are the figures that a run sums up. `also` hears each line."""

    loop: Loop
    is_kept: bool = False
    lines: list[tuple[int, str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    also: Callable[[str], object] = lambda _: None

    def note(self, order_id: str, what: str) -> None:
        """Keep a line; indented if it happened while another event was waiting."""
        if self.is_kept:
            self.lines.append((self.loop.now, order_id, "  " * self.loop.depth + what))
            self.also(what)

    def of(self, order_id: str) -> list[str]:
        """The lines about one order and about none in particular."""
        return [f"{_time(at)}  {what}" for at, about, what in self.lines if about in ("", order_id)]


def _time(at: int) -> str:
    seconds = (at - START) / 1000
    return f"{seconds // 3600:3.0f}:{seconds % 3600 // 60:02.0f}:{seconds % 60:06.3f}"
