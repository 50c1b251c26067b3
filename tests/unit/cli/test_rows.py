"""A table fits the terminal, and what is copied from it is whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console
from rich.table import Table

from stepward.cli.terminal import cell, table
from tests.unit.cli.printing import printed

UUID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
WHY = "charge: payments/charge: refused with declined"


def orders() -> Table:
    """Two orders, as `stepward list` shows them."""
    rows = table("Order", "Workflow", "State", "Submitted", "Steps", "Now")
    rows.add_row(cell(UUID), "fulfilment", cell("Error", "red"), "2026-11-29 09:25:32", "1/3", cell(WHY))
    rows.add_row(cell("ord-7"), "fulfilment", cell("Processed"), "2026-11-29 09:25:32", "3/3", cell(""))
    return rows


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_a_table_fits_and_cuts_no_word(width: int) -> None:
    """O1: where columns cannot, each order is a line with its id, and lines below it."""
    shown = [line.rstrip() for line in printed(orders(), width).splitlines()]
    assert max(map(len, shown)) <= width
    words = " ".join(shown).split()
    assert {UUID, "ord-7", "fulfilment", "Error", "Processed", *WHY.split()} <= set(words)
    assert (shown[0].split()[0] == "Order") is (width >= 100)


def test_a_word_beyond_any_terminal_is_folded_and_lost_nowhere() -> None:
    rows = table("Step", "Outcome")
    rows.add_row(cell("x" * 100), cell("y" * 100))
    assert {sign: printed(rows, 40).count(sign) for sign in "xy"} == {"x": 100, "y": 100}


@pytest.mark.parametrize(("no_colour", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_table_is_coloured_on_a_terminal_unless_asked_not_to(no_colour: dict[str, str], *, coloured: bool) -> None:
    """O1."""
    out = io.StringIO()
    told = {"TERM": "xterm-256color", **no_colour}
    Console(file=out, width=200, force_terminal=True, _environ=told).print(orders())
    assert ("\x1b[31m" in out.getvalue()) is coloured


def test_what_goes_into_a_pipe_has_a_row_in_a_line_and_no_colour() -> None:
    """O1: so that `grep` finds an order together with its state."""
    printing = (
        "from stepward.cli.terminal import OUT, cell, table\n"
        f"rows = table('Order', 'Why')\nrows.add_row(cell('{UUID}', 'red'), cell('{WHY}'))\nOUT.print(rows)"
    )
    told = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    command = [sys.executable, "-c", printing]
    shown = subprocess.run(command, env=told, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own
    assert f"{UUID}  {WHY}" in shown
