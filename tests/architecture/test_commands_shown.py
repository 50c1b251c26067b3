"""The commands that the documents show: each can be typed so, and what it prints is what the page says.

A block of `console` with output is run: here if it needs no deployment, in a shop in memory if tests/architecture/pages
has the page, else by `make tutorial`. A block of `sh` shows only what is typed; one of `text` shows no command.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from stepward.cli.main import app
from tests.architecture.pages import test_pages
from tests.architecture.pages.following import commands, wanted, without_blanks
from tests.architecture.test_documents import PAGES, ROOT, read
from tests.lab.wheels.tutorial import FOLLOWED

FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
COMPARED_WITH_NO_OUTPUT = {
    "README.md": ["the end of docs/demonstration.md"],
    "docs/convoy.md": ["a drawing"],
    "docs/status-notices.md": ["two forms of an address"],
}
"""The blocks of `text` of each page."""
BLOCK = re.compile(r"^ *```(?P<kind>console|text|sh)\b[^\n]*\n(?P<text>.*?)^ *```", re.DOTALL | re.MULTILINE)
ENDS_IT = {"|", "<", ">", "&&", ";"}


def shown(page: str, *kinds: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each command of a page with the lines that it prints."""
    for block in BLOCK.finditer(read(page)):
        if block["kind"] in kinds:
            yield from commands(block["text"])


def typed(page: str) -> Iterator[list[str]]:
    """The words of each `stepward` command in the blocks of a page."""
    for block in BLOCK.finditer(read(page)):
        for line in re.findall(
            r"^ *(?:\$ )?(?:\.\./tools/bin/|\.venv/bin/)?stepward (.*)", block["text"], re.MULTILINE
        ):
            if not (words := shlex.split(line, comments=True)) or words[0].endswith(":") or "at" in words[:2]:
                continue  # a line that the command prints
            ends = [place for place, word in enumerate(words) if word in ENDS_IT]
            yield words[: ends[0]] if ends else words


GROUP = get_command(app)
ELSEWHERE = {*FOLLOWED, *test_pages.FOLLOWED}
RUN_HERE = [(page, *each) for page in PAGES if page not in ELSEWHERE for each in shown(page, "console") if each[1]]


def parse(words: Sequence[str], command: Any) -> None:
    """Raises the usage error that typing them would end with; files need not be there."""
    while hasattr(command, "commands"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    try:
        command.make_context("stepward", list(words))
    except typer.BadParameter as wrong:
        if "does not exist" not in wrong.format_message():
            raise


@pytest.mark.parametrize("page", [page for page in PAGES if any(typed(page))])
def test_the_commands_that_a_page_shows_can_be_typed_so(page: str) -> None:
    for words in typed(page):
        parse(words, GROUP)


def texts(page: str) -> list[str]:
    """The blocks of plain text of a page."""
    return [text for kind, text in FENCE.findall(read(page)) if kind in {"", "text"}]


def test_no_page_shows_output_that_is_compared_with_nothing() -> None:
    """U4."""
    found = {page: len(texts(page)) for page in PAGES if texts(page) and page not in FOLLOWED}

    assert found == {page: len(reasons) for page, reasons in COMPARED_WITH_NO_OUTPUT.items()}
    assert set(texts("README.md")) <= set(texts("docs/demonstration.md"))
    assert not [each for page in PAGES for each in shown(page, "sh", "text")]


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
