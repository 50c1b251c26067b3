"""Draws the layout of the dashboard in CloudWatch as an SVG: for `make pictures`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from html import escape
from textwrap import wrap
from typing import Any

from docs.site.picture import FILE
from tests.infra.template import Template, joined
from tests.lab.benchmarks.cost.stack import synthesised

_UNIT = 50
_LETTER = 7.4
"""How wide a letter is, on average."""
_FRAME = "fill='white' stroke='#d1d5db' rx='4'"


def drawn(template: Template) -> str:
    """Every widget where it is, with the names of what it shows."""
    (board,) = template.properties("CloudWatch::Dashboard").values()
    names = {
        logical: it["AlarmName"].partition("/")[2] for logical, it in template.properties("CloudWatch::Alarm").items()
    }
    widgets = joined(board["DashboardBody"])["widgets"]
    height = max(it["y"] + it["height"] for it in widgets) * _UNIT
    shapes = [line for widget in widgets for line in _widget(widget, names)]
    size = f"0 0 {24 * _UNIT} {height}"
    frame = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{size}' font-family='system-ui, sans-serif'>"
    return "\n".join([frame, "<rect width='100%' height='100%' fill='#f9fafb'/>", *shapes, "</svg>", ""])


def _widget(widget: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    x, y, width, height = (widget[name] * _UNIT for name in ("x", "y", "width", "height"))
    given = widget["properties"]
    if given.get("background") != "transparent":
        yield f"<rect x='{x + 3}' y='{y + 3}' width='{width - 6}' height='{height - 6}' {_FRAME}/>"
    if widget["type"] == "text":
        yield from _markdown(given["markdown"], x + 14, y + 26, width)
        return
    yield _words(given["title"], x + 14, y + 26, "font-size='14' font-weight='600'")
    if widget["type"] == "alarm":
        yield from _tiles([names[each] for each in given["alarms"]], x + 14, y + 40)
        return
    for line in range(3):
        yield f"<path d='M{x + 14} {y + 60 + line * 50}h{width - 28}' stroke='#e5e7eb'/>"
    yield from _legend(
        [each[-1].get("label", each[1]) for each in given["metrics"]], x + 14, y + height - 14, width - 28
    )


def _markdown(text: str, x: int, y: int, width: int) -> Iterator[str]:
    code = False
    for line in text.splitlines():
        if line.startswith("```"):
            code = not code
        elif line.startswith("#"):
            yield _words(line.lstrip("# "), x, y, "font-size='18' font-weight='600'")
            y += 26
        elif code:
            yield _words(line, x, y, "font-size='12' font-family='ui-monospace, monospace' xml:space='preserve'")
            y += 18
        else:
            for part in wrap(line, round(width / _LETTER)):
                yield _words(part, x, y, "font-size='14'")
                y += 20


def _tiles(names: list[str], x: int, y: int) -> Iterator[str]:
    for at, name in enumerate(names):
        left, top = x + at % 8 * 146, y + at // 8 * 34
        yield f"<rect x='{left}' y='{top}' width='140' height='28' fill='#dcfce7' stroke='#86efac'/>"
        yield _words(name, left + 6, top + 19, "font-size='12'")


def _legend(names: list[str], x: int, bottom: int, width: int) -> Iterator[str]:
    lines = wrap(" · ".join(names), round(width / _LETTER))
    for at, line in enumerate(lines):
        yield _words(line, x, bottom - 17 * (len(lines) - 1 - at), "font-size='13' fill='#374151'")


def _words(text: str, x: int, y: int, style: str) -> str:
    return f"<text x='{x}' y='{y}' {style}>{escape(text)}</text>"


if __name__ == "__main__":
    file = FILE.with_name("dashboard.svg")
    file.write_text(drawn(synthesised("lean")), encoding="utf-8")
    sys.stdout.write(f"{file}\n")
