import io
import json
import re
import sys
import time
from decimal import Decimal

import pytest
from rich.cells import cell_len
from rich.console import Console

from stepward.cli.main import main
from stepward.cli.terminal import (
    OUT,
    cell,
    clock,
    day_and_time,
    print_json,
    print_raw,
    printable,
    printable_lines,
    say,
    span,
    table,
    wrapped,
)


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
        (60_000, "1 min"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h"),
        (90_000_000, "1 d 1 h"),
        (-300_000, "-5 min"),
    ],
)
def test_a_duration_is_shown_in_its_two_largest_units(milliseconds: int, words: str) -> None:
    assert span(milliseconds) == words


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
@pytest.mark.parametrize("at", [-(10**18), -62_135_596_800_000, -1, 253_402_300_799_999, 10**18])
def test_no_clock_hides_what_it_stamped(monkeypatch: pytest.MonkeyPatch, zone: str, at: int) -> None:
    """Field case 24: a time beyond the calendar is shown as near as it comes."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert re.fullmatch(r"\d{1,4}-\d\d-\d\d \d\d:\d\d:\d\d", day_and_time(at))
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", clock(at))
    finally:
        monkeypatch.undo()
        time.tzset()


in_any_encoding = pytest.mark.parametrize("encoding", ["ascii", "cp1252", "iso8859-1", "cp437", "utf-8"])


def screen(encoding: str, monkeypatch: pytest.MonkeyPatch) -> io.TextIOWrapper:
    """Standard output in that encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def shown(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)


@in_any_encoding
@pytest.mark.parametrize(
    "text", ["sold out \N{PARTY POPPER}", "\u20ac 5 zur\u00fcck", "\u65e5\u672c", "\u2192 \ud800 \u202e"]
)
def test_what_a_terminal_cannot_show_is_replaced_and_the_rest_stays(
    encoding: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Field case 24: one reason must not hide a list of orders."""
    stream, rows = screen(encoding, monkeypatch), table("Order", "Why", "Then")
    rows.add_row(cell("ord-1"), cell(text), cell("x"))
    rows.add_row(cell("ord-2"), cell("y" * 40), cell("x"))

    say(f"before {text} after")
    OUT.print(rows)

    lines = shown(stream).splitlines()
    assert lines[0].startswith("before ")
    assert lines[0].endswith(" after")
    assert [line.split()[0] for line in lines[2:]] == ["ord-1", "ord-2"]
    assert len({cell_len(line.rstrip()) for line in lines[2:]}) == 1  # the columns are aligned


@in_any_encoding
def test_the_help_is_shown_in_any_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Field case 24: our own texts have signs, too."""
    monkeypatch.setattr(sys, "argv", ["stepward", "send", "--help"])
    monkeypatch.setenv("COLUMNS", "120")
    stream = screen(encoding, monkeypatch)

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 0
    assert "stepward send order.json" in shown(stream)


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


COMMAND = ".venv/bin/stepward undo ord-1001 --why 'the customer; withdrew' --local"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"It is Undone. To see it: {COMMAND}", ["It is Undone. To see it:", COMMAND]),
        (f"Type {COMMAND}; its submitter can too", ["Type", f"{COMMAND};", "its submitter can too"]),
        (
            "stepward: no region is set; set AWS_REGION, or --local",
            ["stepward: no region is set; set", "AWS_REGION, or --local"],
        ),
        (
            "3 sent to the queue of stack stepward. It is well.",
            ["3 sent to the queue of stack stepward.", "It is well."],
        ),
        (
            f"  {COMMAND}\nname            of a column is kept as it is set",
            [f"  {COMMAND}", "name            of a column is kept as it is set"],
        ),
        (
            "Not here: type make console ENV=dev, or `aws configure`",
            ["Not here: type make console ENV=dev, or", "`aws configure`"],
        ),
    ],
)
def test_sentences_wrap_at_a_word_and_a_command_stays_whole(text: str, lines: list[str]) -> None:
    """L5."""
    assert wrapped(text, 40).split("\n") == lines


def test_a_terminal_gets_sentences_wrapped_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = []
    for is_terminal in (True, False):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=is_terminal, width=20, color_system=None)
        monkeypatch.setattr("stepward.cli.terminal.OUT", console)
        say("one two three four five six")
        printed.append(stream.getvalue())

    assert printed == ["one two three four\nfive six\n", "one two three four five six\n"]
