"""O3: `make demo CONSOLE=1` shows the demonstration in the console."""

import builtins
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from orders.demo import pages
from orders.demo.stage import CREDENTIALS

ADDRESS = "http://127.0.0.1:1/?token=t"
STAGE: Any = SimpleNamespace(endpoint="http://127.0.0.1:2")


@pytest.fixture(autouse=True)
def _serving(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*CREDENTIALS, "NO_PROXY"):
        monkeypatch.setenv(name, "before")

    def serve(ready: Callable[[str], object], _port: int) -> None:
        ready(ADDRESS)

    monkeypatch.setattr(pages, "served", lambda *_: serve)


def test_the_console_is_named_at_the_start_and_stays_until_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    console, seen = Console(record=True, width=200), list[str]()

    def enter() -> str:
        seen.append(console.export_text(clear=False))
        raise EOFError

    monkeypatch.setattr(builtins, "input", enter)
    with pages.shown_in_console(STAGE, console):
        assert ADDRESS in console.export_text(clear=False)
        assert not seen
    assert "The console goes on" in seen[0]


def test_a_demonstration_that_breaks_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "input", lambda: pytest.fail("it waits"))
    with pytest.raises(ZeroDivisionError), pages.shown_in_console(STAGE, Console(record=True)):
        raise ZeroDivisionError
