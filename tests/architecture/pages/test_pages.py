"""The pages for operators are followed from top to bottom, in a shop in memory."""

import re

import pytest

from tests.architecture.pages import convoy, operator, retiring
from tests.architecture.pages.following import follow, without_blanks

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
