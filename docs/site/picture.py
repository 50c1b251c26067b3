"""Draws the parts of a deployment as an SVG: for `make pictures`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

FILE = Path(__file__).parents[2] / "docs" / "pictures" / "parts.svg"
_WIDTH, _HEIGHT = 150, 46
_COLOURS = {"queue": "#fff3d6", "function": "#dbeafe", "store": "#dcfce7", "outside": "#f3f4f6"}
_STYLE = "font-family='system-ui, sans-serif' font-size='13' text-anchor='middle' fill='#111827'"
_PARTS: Mapping[str, tuple[str, int, int]] = {
    "submitter": ("outside", 0, 1),
    "orders": ("queue", 1, 1),
    "submission": ("function", 2, 1),
    "scheduler": ("function", 3, 1),
    "state store": ("store", 3, 0),
    "requests": ("queue", 4, 1),
    "agents": ("function", 5, 1),
    "services": ("outside", 6, 1),
    "responses": ("queue", 4, 2),
    "supervisor": ("function", 3, 2),
    "operators": ("outside", 2, 2),
    "ledgers": ("queue", 1, 0),
    "convoy": ("function", 2, 0),
}
_ARROWS = (
    ("submitter", "orders"), ("orders", "submission"), ("submission", "scheduler"), ("scheduler", "state store"),
    ("scheduler", "requests"), ("requests", "agents"), ("agents", "services"), ("agents", "responses"),
    ("responses", "scheduler"), ("supervisor", "scheduler"), ("supervisor", "operators"), ("submitter", "ledgers"),
    ("ledgers", "convoy"), ("convoy", "scheduler"),
)  # fmt: skip
_TEXTS = {
    "orders": "queue",
    "submission": "checks an order",
    "scheduler": "claims steps",
    "state store": "an item per order",
    "services": "yours",
    "agents": "a function each",
    "requests": "a queue per agent",
    "responses": "queue",
    "supervisor": "finds overdue steps",
    "operators": "are alerted",
    "ledgers": "events of orders",
    "convoy": "each in sequence",
}


def drawn() -> str:
    """The picture."""
    shapes = [*map(_arrow, _ARROWS), *(_box(name, *place, _TEXTS.get(name, "")) for name, place in _PARTS.items())]
    return "\n".join([*_frame(), *shapes, "</svg>", ""])


def _frame() -> Iterator[str]:
    yield "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1190 276'>"
    yield "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
    yield "<path d='M0 0L8 4L0 8z' fill='#6b7280'/></marker></defs>"
    yield "<rect width='1190' height='276' fill='white'/>"


def _box(name: str, kind: str, column: int, row: int, text: str) -> str:
    left, top = _corner(column, row)
    middle, dy = left + _WIDTH / 2, 20 if text else 28
    below = f"<text x='{middle:g}' y='{top + 37}' {_STYLE} opacity='.7'>{escape(text)}</text>" if text else ""
    return (
        f"<rect x='{left}' y='{top}' width='{_WIDTH}' height='{_HEIGHT}' rx='6' "
        f"fill='{_COLOURS[kind]}' stroke='#9ca3af'/>"
        f"<text x='{middle:g}' y='{top + dy}' {_STYLE} font-weight='600'>{name}</text>{below}"
    )


def _corner(column: int, row: int) -> tuple[int, int]:
    return 10 + column * 170, 20 + row * 95


def _arrow(ends: tuple[str, str]) -> str:
    (x, y), (to_x, to_y) = (_corner(*_PARTS[name][1:]) for name in ends)
    across, down = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
    from_x, from_y = _edge(x, y, across, down)
    until_x, until_y = _edge(to_x, to_y, -across, -down)
    line = f"M{from_x:g} {from_y:g}L{until_x:g} {until_y:g}"
    return f"<path d='{line}' stroke='#6b7280' fill='none' marker-end='url(#tip)'/>"


def _edge(left: int, top: int, across: int, down: int) -> tuple[float, float]:
    """The point of a box's edge that faces the other box; a corner if that is neither beside nor below."""
    return left + _WIDTH * (1 + across) / 2, top + _HEIGHT * (1 + down) / 2


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(drawn(), encoding="utf-8")
    sys.stdout.write(f"{FILE}\n")
