"""What the documents say of the example is so."""

import re
import shlex

import pytest
from typer.testing import CliRunner

from stepward.cli.main import app
from tests.architecture.pages.following import wanted, without_blanks
from tests.architecture.test_commands_shown import RUN_HERE
from tests.architecture.test_documents import PAGES, ROOT, lacking, links, named, of_the_example, walked


def test_the_files_that_the_pages_name_are_there() -> None:
    ours = {path for page in PAGES for path in (*links(page), *named(page)) if of_the_example(path)}

    assert {"functions/orders/shops/", "events/returns/return.json", "tests/browser"} <= ours
    assert [path for path in ours if not any(ROOT.glob(path.rstrip("/")))] == []


def test_the_walk_through_the_engine_names_functions_of_the_example() -> None:
    assert (steps := walked(example=True))
    assert lacking(steps) == []


@pytest.mark.parametrize(("page", "command", "lines"), RUN_HERE, ids=lambda it: it if isinstance(it, str) else "")
def test_a_command_prints_what_its_page_says(
    page: str, command: str, lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """U4: `…` stands for whatever else is in the line, and on a line of its own for any lines."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    program, *words = shlex.split(command)
    assert program == "stepward", f"{page}: mark it as sh or text, or add the page to those that make tutorial follows"

    printed = CliRunner().invoke(app, words).output

    assert re.fullmatch(wanted(lines), without_blanks(printed)), printed
