"""L5: tables fit the terminal and keep a word whole; what matters least goes first."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from stepward.cli.fitted import Fitted
from stepward.cli.orders.find import rows_table
from stepward.cli.orders.view import order_view
from stepward.cli.terminal import cell
from stepward.domain.key import ANY
from stepward.operator.rows import row_of
from tests.unit.cli.lives import SUBMITTED, Life
from tests.unit.cli.printing import printed

FUNCTIONS = Path(__file__).parents[3] / "functions"
ID, SENTENCE = "order-" + "0123456789" * 7 + "last", "insufficient funds: the payment service refused it"
WIDTHS = pytest.mark.parametrize("width", [80, 60, 40])


def tables() -> Iterator[Any]:
    """Each table that the engine prints: its columns, and those that go first."""
    for file in sorted((FUNCTIONS / "stepward" / "cli").rglob("*.py")):
        for call in ast.walk(ast.parse(text)) if " table(" in (text := file.read_text()) else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "table":
                parts = file.relative_to(FUNCTIONS).with_suffix("").parts
                within = vars(import_module(".".join(parts)))
                least = [eval(ast.unparse(each.value), dict(within)) for each in call.keywords]  # noqa: S307 - our own
                if any(isinstance(it, ast.JoinedStr) for it in ast.walk(call)):
                    continue  # the bill's, whose columns are numbers
                columns = [it.value for arg in call.args for it in ast.walk(arg) if isinstance(it, ast.Constant)]
                columns = [*dict.fromkeys(each for each in columns if isinstance(each, str))]
                yield pytest.param(columns, tuple(least[0]) if least else (), id=f"{parts[-2]}.{parts[-1]}-{columns}")


@WIDTHS
@pytest.mark.parametrize(("columns", "least"), [*tables()])
def test_every_table_fits_and_keeps_its_words(columns: list[str], least: tuple[str, ...], width: int) -> None:
    rows, (*others, last) = Fitted(*columns, least=least), [each for each in columns if each not in least]
    texts = dict.fromkeys(least, "2026-11-28 10:00:00") | dict.fromkeys(others, "UndoFailed") | {columns[0]: ID}
    rows.add_row(*(cell(({last: SENTENCE} | texts)[each]) for each in columns))

    lines = [line.rstrip() for line in printed(rows, width).splitlines()]
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    for text in (SENTENCE, *["UndoFailed"] * (len(others) > 1)) if others else ():
        assert {*text.split()} <= words


def test_what_matters_least_goes_first_and_only_as_far_as_is_needed() -> None:
    rows = Fitted("Order", "When", "State", "Why", least=["When", "State"])
    rows.add_row("ord-1", "2026-11-28 10:00:00", "Processing", SENTENCE)

    assert [printed(rows, width).splitlines()[0].split() for width in (80, 50, 22)] == [
        ["Order", "When", "State", "Why"],
        ["Order", "State", "Why"],
        ["Order", "Why"],
    ]


@WIDTHS
def test_an_order_with_a_long_id_shows_each_state_and_reason_whole(width: int) -> None:
    life = Life(ID).start(0).answer("reserve", 100, "insufficient funds")

    for shown in (order_view(life.loaded), rows_table([row_of(life.task, "fulfilment")], SUBMITTED, ANY)):
        lines = printed(shown, width).splitlines()
        assert max(len(line.rstrip()) for line in lines) <= width
        assert {"Error", "insufficient"} <= {word for line in lines for word in line.split()}
