"""Tables that fit a terminal: columns as long as no word of theirs is cut, and else a few lines a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 2
_LONGEST_WORD = 24
"""A longer word may be cut, but not in the first column: that has the names which people copy."""


class Rows(Table):
    """A table that knows both forms; what is no text, as a bar, stays in columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The form that fits."""
        texts = [[str(column.header), *map(str, column.cells)] for column in self.columns]
        lines, words = ([max(map(longest, each)) for each in texts] for longest in (_longest_line, _longest_word))
        needed = [
            line if column.no_wrap else word if column is self.columns[0] else min(_LONGEST_WORD, word)
            for column, line, word in zip(self.columns, lines, words, strict=True)
        ]
        widths = _shrunk(lines, needed, options.max_width)
        if widths or any(not isinstance(it, Text | str) for column in self.columns for it in column.cells):
            for column, width in zip(self.columns, widths, strict=bool(widths)):
                column.width = width
            yield from super().__rich_console__(console, options)
        else:
            yield from self._lines()

    def _lines(self) -> Iterator[RenderableType]:
        """Each row as its first cell, and below it the others, each after the name of its column."""
        names = [str(column.header).lower() for column in self.columns[1:]]
        for first, *others in zip(*(column.cells for column in self.columns), strict=True):
            told = [
                Text.assemble((f"{name} " if name else "", "dim"), _text(it))
                for name, it in zip(names, others, strict=True)
                if str(it)
            ]
            yield Text.assemble(_text(first), style="bold")
            yield Padding(Text(" · ").join(told), (0, 0, 0, _GAP), expand=False)


def _shrunk(widths: Sequence[int], needed: Sequence[int], room: int) -> Sequence[int]:
    """The widths after the widest gave up what is too much; none if a column would get less than it needs."""
    shrunk, columns = list(widths), range(len(widths))
    while sum(shrunk) + _GAP * len(shrunk) > room:
        widest = max(columns, key=lambda at: (shrunk[at] > needed[at], shrunk[at]))
        if shrunk[widest] <= needed[widest]:
            return []
        shrunk[widest] -= 1
    return shrunk


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))
