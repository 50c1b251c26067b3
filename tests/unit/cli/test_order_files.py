import io
import sys
from pathlib import Path

import pytest

from stepward.cli.orders.files import STDIN, read
from stepward.cli.user_error import UserError
from stepward.domain.key import ANY

ONE = '{"orderId": "a",  "total": 1.50, "n": 1, "n": 2}'
TWO = '{"orderId": "b"}'


def bodies(tmp_path: Path, content: str | bytes) -> list[str]:
    file = tmp_path / "orders.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [message.body for message in read(file)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (ONE, [ONE]),
        (f"\n {ONE}\n\n", [ONE]),
        (f"{ONE}\n{TWO}\n", [ONE, TWO]),
        (f"{ONE}\r\n{TWO}\r\n", [ONE, TWO]),
        (f"[{ONE}, {TWO}]", [ONE, TWO]),
        (f"[\n  {ONE}\n,\n  {TWO}\n]\n", [ONE, TWO]),
        ('{\n  "orderId": "a"\n}\n{\n  "orderId": "b"\n}', ['{\n  "orderId": "a"\n}', '{\n  "orderId": "b"\n}']),
        ("\ufeff" + ONE, [ONE]),
        ('{"n": ' + "9" * 5_000 + "}", ['{"n": ' + "9" * 5_000 + "}"]),
        ('{"n": NaN}', ['{"n": NaN}']),
        ('["text", 7, [1]]', ['"text"', "7", "[1]"]),
        ("[1]\n[2]", ["[1]", "[2]"]),
    ],
)
def test_messages_are_taken_as_they_are_written(tmp_path: Path, content: str, expected: list[str]) -> None:
    """What is wrong inside a message is for the deployment to say, not for the reader of the file."""
    assert bodies(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (f"{ONE}\n{{oops}}\n", r"orders\.json, line 2, column 2: not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 text .at byte 7."),
        ("  \n", "holds no order message"),
        ("[]", "holds no order message"),
        (f"[{ONE} {TWO}]", "line 1"),
        (f"[{ONE}", "line 1"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_an_unreadable_file_is_refused_with_its_position(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        bodies(tmp_path, content)


def test_each_message_knows_its_line(tmp_path: Path) -> None:
    (tmp_path / "day.jsonl").write_text(f"{ONE}\n\n{TWO}\n")

    assert [message.position for message in read(tmp_path / "day.jsonl")] == [
        f"{tmp_path}/day.jsonl, line 1",
        f"{tmp_path}/day.jsonl, line 3",
    ]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TWO.encode())))

    assert [(message.position, message.body) for message in read(STDIN)] == [("standard input, line 1", TWO)]


def test_what_every_application_would_reject_is_known_beforehand(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(TWO)

    fault = read(tmp_path / "bad.json")[0].fault(ANY)

    assert fault
    assert fault.field == "type"
