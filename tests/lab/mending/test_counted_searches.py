"""O1: what a search reads does not grow with the store: counted on the real adapters, up to a million orders."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.overview import in_flight, overview
from stepward.operator.scan import newest
from stepward.operator.search import search
from stepward.project import Project
from tests.lab.mending.endless import Endless

pytestmark = pytest.mark.lab

PAGE = (Project.here().root / "docs" / "operator.md").read_text(encoding="utf-8")
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def finds(text: str) -> Callable[[Connection], object]:
    return lambda connection: search(connection, Filter.parse(text, now=connection.now()), 50)


COMMANDS: dict[str, Callable[[Connection], object]] = {
    "find state=Error": finds("state=Error"),
    "find reason~nothing": finds("reason~nothing"),
    "find customer=nobody": finds("customer=nobody"),
    "find id=ord-0000007": finds("id=ord-0000007"),
    "status": lambda connection: (overview(connection), in_flight(connection)),
    "list": lambda connection: newest(connection, lambda _: True, 50),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_reads_does_not_grow_with_the_store(command: str) -> None:
    """O1: from ten thousand orders on it is the same; the page has the counts."""
    counted = []
    for size in SIZES:
        store = Endless(size)
        COMMANDS[command](store.connection)
        counted.append(store.asked.read)
    requests, rows, units = counted[-1]
    assert {each[:2] for each in counted[1:]} == {(requests, rows)}
    assert [each[2] for each in counted[1:]] == pytest.approx([units] * 3, abs=1)
    assert f"| `{command}` | {requests} | {rows:,} | {units:,.0f} |" in PAGE, counted[-1]
