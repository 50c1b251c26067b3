"""The pages for operators are followed from top to bottom, in a shop in memory."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepward.cli.deploy_check.draining import Draining
from stepward.cli.terminal import ERR, OUT
from tests.architecture.pages import convoy, operator, retiring
from tests.architecture.pages.following import blocks, follow, without_blanks
from tests.architecture.test_documents import quoted

FOLLOWED = {
    "docs/convoy.md": convoy.SCENES,
    "docs/operator.md": operator.SCENES,
    "docs/retiring.md": retiring.SCENES,
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Eighty columns in Greenwich, in a folder of no project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for console in (OUT, ERR):
        monkeypatch.setattr(console, "width", 80)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("page", FOLLOWED)
def test_each_command_of_a_page_prints_what_the_page_says(page: str) -> None:
    """U4, L3: one command after another."""
    assert {block.title for block in blocks(page)} == FOLLOWED[page].keys()
    for command, result, wanted in follow(page, FOLLOWED[page]):
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert command.startswith("stepward ")
        assert re.fullmatch(wanted, without_blanks(result.output)), f"$ {command}\n{result.output}"


def test_what_is_left_is_quoted_as_a_check_says_it() -> None:
    """D1: in the text of docs/retiring.md."""
    left = (Draining("agent payments", 12, 3), Draining("ledgers-acme", kind="ledger"), Draining("shards 4 to 7"))
    known = {f"Draining {each}." for each in (*left, *(Draining("payments.charge", orders) for orders in (0, 12)))}

    assert {text for text in quoted("docs/retiring.md") if text.startswith("Draining ")} == known
