"""The orders that match a filter, page by page, and a command for many of them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from stepward.console.frame import Console, empty, live, order_address, orders_address, page
from stepward.console.many import many
from stepward.domain.errors import Rejected
from stepward.operator.filters import Filter
from stepward.operator.scan import scan
from stepward.operator.search import Page, search, unanswered
from stepward.operator.wording.times import day_and_time

AT_ONCE = 50
_COLUMNS = ("order", "workflow", "customer", "state", "step", "reason", "since")
_LINK = '<q-td :props="props"><a class="text-primary" :href="props.row.href">{{ props.value }}</a></q-td>'


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows: a page of orders, and what no index could answer."""

    page: Page
    unanswered: str


def orders_page(console: Console, where: str, after: str, *, scan_all: bool = False) -> None:
    """The page of the orders that match; `after` is where an earlier page ended.

    With `scan_all` the whole state store is read, once.
    """
    with page(console, f"Orders {where}"):
        _search_field(where, scan_all=scan_all)
        marked: set[str] = set()
        if not console.read_only:
            with ui.row().classes("gap-2"):
                one = ui.button("Act on the marked", on_click=lambda: _act(console, where, frozenset(marked)))
                one.props("dense outline no-caps").mark("marked")
                every = ui.button("Act on all that match", on_click=lambda: _act(console, where, None))
                every.props("dense outline no-caps").mark("every")
        load = partial(_load, console, where, after, scan_all=scan_all)
        live(load, partial(_draw, where, marked), once=scan_all)


def _search_field(where: str, *, scan_all: bool) -> None:
    wanted = ui.input("An order id, or conditions", value=where).classes("w-full").mark("where")
    wanted.props(
        'hint="Such as: customer=acme since=1d, or: step=charge reason~declined state=Error workflow=returns id^ord-1"'
    )
    wanted.on("keydown.enter", lambda: ui.navigate.to(orders_address(wanted.value or "")))
    if not scan_all:
        ui.link("Read the whole state store for it", f"/orders?{urlencode({'where': where, 'scan_all': 'true'})}")


def wish_of(where: str, now: int) -> Filter:
    """The filter that was typed; a text without a condition is the id of an order. Raises Rejected."""
    plain = where.strip()
    if plain and not re.search(r"[a-z]+[=~^]", plain):
        plain = f"id={shlex.quote(plain)}"
    return Filter.parse(plain, now=now)


def _act(console: Console, where: str, marked: frozenset[str] | None) -> None:
    try:
        many(console, wish_of(where, console.connection.now()), marked)
    except Rejected as fault:
        ui.notify(str(fault))


def _load(console: Console, where: str, after: str, *, scan_all: bool) -> Shown:
    connection = console.connection
    wish = wish_of(where, connection.now())
    if scan_all:
        return Shown(scan(connection, wish, AT_ONCE), "")
    return Shown(search(connection, wish, AT_ONCE, after), unanswered(connection, wish))


def _draw(where: str, marked: set[str], shown: Shown) -> None:
    found = shown.page
    for error in found.corrupt:
        ui.label(f"Cannot be read: {error}").classes("trouble")
    if not found.rows:
        empty("No order was found.")
    else:
        _table(marked, found)
    with ui.row().classes("items-center gap-4"):
        ui.label(f"{len(found.rows)} shown, {found.read:,} read")
        if found.more and not found.after:
            ui.label("there are more: add a condition")
        elif found.more:
            older = f"/orders?{urlencode({'where': where, 'after': found.after})}"
            ui.link("The next ones", older)
    if shown.unanswered:
        ui.label(shown.unanswered).classes("opacity-70")


def _table(marked: set[str], found: Page) -> None:
    rows: list[dict[str, Any]] = [
        {
            "key": row.key,
            "href": order_address(row.key),
            "order": row.order_id,
            "workflow": row.workflow,
            "customer": row.customer,
            "state": row.state,
            "step": row.step,
            "reason": row.reason,
            "since": day_and_time(row.since),
        }
        for row in found.rows
    ]
    columns = [{"name": each, "label": each.capitalize(), "field": each, "align": "left"} for each in _COLUMNS]

    def mark() -> None:
        marked.clear()
        marked.update(str(row["key"]) for row in table.selected)

    table = ui.table(rows=rows, columns=columns, row_key="key", selection="multiple", on_select=lambda _: mark())
    table.classes("w-full").props("dense flat wrap-cells").mark("orders")
    table.selected = [row for row in rows if row["key"] in marked]
    table.add_slot("body-cell-order", _LINK)
