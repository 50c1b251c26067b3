import io
import json
import sys
from decimal import Decimal

import pytest

from stepward.cli.terminal import print_json, print_raw, printable, printable_lines, span


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ümläut, 日本", "plain text, ümläut, 日本"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\nb\tc", r"a\nb\tc"),
        ("safe\u202etxt", r"safe\u202etxt"),
        ("\x9b2J", r"\x9b2J"),
        ("\ud800", r"\ud800"),
        ("[red]x[/red] :bomb:", "[red]x[/red] :bomb:"),
    ],
)
def test_nothing_that_steers_a_terminal_gets_through(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_stay_lines() -> None:
    assert printable_lines("a\r\nb\x07\n") == "a\nb\\x07\n"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_949, "59.9 s"),
        (60_000, "1 min 0 s"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h 0 min"),
        (90_000_000, "1 d 1 h"),
    ],
)
def test_a_duration_is_shown_in_its_two_largest_units(milliseconds: int, words: str) -> None:
    assert span(milliseconds) == words


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_rejected_body_reaches_a_terminal_without_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    print_raw("{\n\x1b[2J}")

    assert terminal.getvalue() == "{\n\\x1b[2J}\n"


def test_json_is_ascii_and_keeps_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"name": "ü\x1b\u202e", "whole": Decimal(7), "part": Decimal("1.25")}

    print_json(document)

    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {"name": "ü\x1b\u202e", "whole": 7, "part": 1.25}
