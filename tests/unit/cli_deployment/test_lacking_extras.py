"""The command without its libraries says what to install; what else is missing is an error like any."""

import sys

import pytest

from stepward import cli


def test_without_its_libraries_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stepward.cli.main", None)
    with pytest.raises(ModuleNotFoundError):
        cli.start()

    monkeypatch.delitem(sys.modules, "stepward.cli.main")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"typer is not installed; type: pip install 'stepward\[cli\]'"):
        cli.start()
