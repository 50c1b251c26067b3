"""The pages for operators are followed from top to bottom, in a shop in memory."""

import re

import pytest

from stepward.cli.deploy_check.draining import Draining
from tests.architecture.pages import convoy, operator, retiring
from tests.architecture.pages.following import follow, without_blanks
from tests.architecture.test_documents import quoted

FOLLOWED = {
    "docs/convoy.md": convoy.SCENES,
    "docs/operator.md": operator.SCENES,
    "docs/retiring.md": retiring.SCENES,
}


@pytest.mark.parametrize("page", FOLLOWED)
def test_each_command_of_a_page_prints_what_the_page_says(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """U4, L3: at 80 columns, one command after another."""
    for command, printed, wanted in follow(page, FOLLOWED[page], monkeypatch):
        assert re.fullmatch(wanted, without_blanks(printed)), f"$ {command}\n{printed}"


def test_what_is_left_is_quoted_as_a_check_says_it() -> None:
    """D1: in the text of docs/retiring.md."""
    left = (Draining("agent payments", 12, 3), Draining("ledgers-acme", kind="ledger"), Draining("shards 4 to 7"))
    known = {f"Draining {each}." for each in (*left, *(Draining("payments.charge", orders) for orders in (0, 12)))}

    assert {text for text in quoted("docs/retiring.md") if text.startswith("Draining ")} == known
