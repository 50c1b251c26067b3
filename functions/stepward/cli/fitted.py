"""A table that fits the terminal: the columns that matter least go first, and a word stays whole while it can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table

GAP = 2
"""Blanks after each column."""
SHORT = 20
"""A text of up to so many characters, as a time is, wraps only where nothing else helps."""


class Fitted(Table):
    """A table without lines; `least` are the headers of the columns that a narrow terminal goes without, in turn."""

    def __init__(self, *columns: str, least: Iterable[str] = ()) -> None:
        super().__init__(box=None, padding=(0, GAP, 0, 0), header_style="dim")
        self.least = tuple(least)
        for column in columns:
            self.add_column(column, overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The columns that fit, each with its width."""
        kept = [_Needs.of(column, console, options, header=self.show_header) for column in self.columns]
        for header in self.least:
            if sum(each.short for each in kept) <= options.max_width:
                break
            kept = [each for each in kept if each.column.header != header]
        shown = copy(self)
        sizes = _widths(kept, options.max_width)
        shown.columns = [
            replace(each.column, width=max(1, size - GAP), _index=index)
            for index, (each, size) in enumerate(zip(kept, sizes, strict=True))
        ]
        yield from Table.__rich_console__(shown, console, options)


@dataclass(frozen=True, slots=True)
class _Needs:
    """The widths, with the gap, at which a column wraps no line, no short line, and no word."""

    column: Column
    lines: int
    short: int
    words: int

    @classmethod
    def of(cls, column: Column, console: Console, options: ConsoleOptions, *, header: bool) -> _Needs:
        """A word longer than half the terminal may be broken."""
        cells = [*([column.header] if header else []), *column.cells]
        found = [Measurement.get(console, options, each) for each in cells]
        most = options.max_width // 2
        lines = max((each.maximum for each in found), default=1) + GAP
        words = min(max((each.minimum for each in found), default=1), most) + GAP
        return cls(column, lines, lines if lines <= SHORT + GAP else words, words)


def _widths(kept: Sequence[_Needs], most: int) -> Sequence[int]:
    """What each column gets: what its words need, then what its short lines need, then what is left, in equal parts."""
    widths = [each.words for each in kept]
    while sum(widths) > most:
        widths[widths.index(max(widths))] -= 1
    for needs in ([each.short for each in kept], [each.lines for each in kept]):
        left = most - sum(widths)
        wanting = sorted((need - width, index) for index, (need, width) in enumerate(zip(needs, widths, strict=True)))
        for place, (want, index) in enumerate(wanting):
            given = max(0, min(want, left // (len(wanting) - place)))
            widths[index] += given
            left -= given
    return widths
