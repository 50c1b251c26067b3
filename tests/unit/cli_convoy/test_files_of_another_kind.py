"""A file that is not what it should be is refused whole, or read, whichever command sends it and however it arrives."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stepward.cli.deployment.options import Target
from stepward.cli.ledger.files import message_of, opened, surveyed
from stepward.cli.orders.files import read
from stepward.cli.orders.send import send
from stepward.cli.user_error import UserError
from stepward.domain.errors import Rejected
from stepward.wire.beginnings import ENOUGH
from tests.lab.convoy.world import ConvoyWorld, entry, order
from tests.unit.convoy.test_splitting_ledgers import BIG, bodies, in_object, split

ENTRIES: list[Any] = [*order("A", 2), entry("B", 1, "create", note="f\u00fcr \U0001f389")]
TEXT = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in ENTRIES)
BOM = b"\xef\xbb\xbf"
AN_ENTRY_A_LINE = '{\n  "entries": [\n' + ",\n".join(map(json.dumps, ENTRIES)) + "\n  ]\n}\n"
"""The last entry has no comma after it, so its line is a whole object."""


def zipped(text: bytes) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("today.jsonl", text)
    return packed.getvalue()


OTHER_BYTES = [
    (gzip.compress(TEXT.encode()), "gzip; unpack it first"),
    (bz2.compress(TEXT.encode()), "bzip2; unpack it first"),
    (lzma.compress(TEXT.encode()), "xz; unpack it first"),
    (zipped(TEXT.encode()), "a zip archive or a spreadsheet"),
    (b"\x28\xb5\x2f\xfd" + bytes(range(90)), "zstd; unpack it first"),
    (b"PAR1" + bytes(90), "Parquet"),
    (TEXT.encode("utf-16"), "UTF-16 or UTF-32; save it as UTF-8"),
    (TEXT.encode("utf-16-be"), "UTF-16 or UTF-32; save it as UTF-8"),
    (TEXT.encode("utf-32"), "UTF-16 or UTF-32; save it as UTF-8"),
]
COMMAS = ",\n".join(map(json.dumps, ENTRIES))
"""What somebody copied out of an array: only the last line is a whole object."""
OTHER_TEXTS = [
    ("", "empty"),
    (" \n\n", "empty"),
    (json.dumps(ENTRIES), "one JSON array"),
    (json.dumps(ENTRIES, indent=2), "one JSON array"),
    ("\n" + json.dumps({"entries": ENTRIES}, indent=2), "one JSON value over many lines"),
    (AN_ENTRY_A_LINE, "one JSON value over many lines"),
    (AN_ENTRY_A_LINE.replace("\n]", "," + " " * ENOUGH + TEXT + "]"), "one JSON value over many lines"),
    (COMMAS, "commas between them"),
    (COMMAS.replace("\n", " \r\n"), "commas between them"),
    ("orderId,sequence,op\nA,1,create\n", "no JSON: it begins with 'orderId,"),
    ("<orders/>", "no JSON: it begins with '<orders"),
    ('"text"\n"text"\n', "no JSON: it begins with"),
]


@pytest.mark.parametrize(("content", "words"), [*OTHER_BYTES, (TEXT.encode("cp1252", "replace"), "UTF-8 text (at")])
@pytest.mark.parametrize("name", ["today.jsonl", "today.json", "today.txt"])
def test_both_commands_refuse_a_file_of_another_kind(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """Field case 22: by its first bytes, and with what to do."""
    (tmp_path / name).write_bytes(content)
    for reads in (read, lambda path: opened(path, "shop", "")):
        with pytest.raises(UserError) as refused:
            reads(tmp_path / name)
        assert words in str(refused.value)
        assert "save it as" in str(refused.value)


@pytest.mark.parametrize("name", ["today.jsonl", "today.json", "today.txt"])
@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\n\n"),
        json.dumps(ENTRIES),
        json.dumps(ENTRIES, indent=2),
        json.dumps({"entries": ENTRIES}),
        json.dumps({"customerId": "shop", "entries": ENTRIES}, indent=2),
        AN_ENTRY_A_LINE,
        AN_ENTRY_A_LINE.replace("{\n", "{", 1),
    ],
)
@pytest.mark.parametrize("mark", [b"", BOM])
def test_a_ledger_is_read_by_what_it_holds_and_not_by_its_name(
    tmp_path: Path, name: str, mark: bytes, content: str
) -> None:
    """Field case 22: one array over many lines, lines in a .json, a byte order mark."""
    (tmp_path / name).write_bytes(mark + content.encode())

    ledger = opened(tmp_path / name, "shop", "l-1")

    survey = surveyed(ledger)
    assert (survey.entries, survey.faulty, survey.orders) == (len(ENTRIES), 0, {"A", "B"})
    assert json.loads(message_of(ledger)) == {"customerId": "shop", "ledgerId": "l-1", "entries": ENTRIES}
    assert all(message.body.startswith("{") for message in read(tmp_path / name))


@pytest.mark.parametrize("damaged", ['{"orderId": "A",', '{"orderId":', '{"orderId": "A', "{", '{"a": [1,'])
def test_a_first_line_that_is_cut_off_does_not_make_lines_one_value(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "today.jsonl").write_text(f"{damaged}\n{TEXT}")

    survey = surveyed(opened(tmp_path / "today.jsonl", "shop", "l-1"))

    assert (survey.entries, survey.faulty, survey.orders) == (len(ENTRIES) + 1, 1, {"A", "B"})


@pytest.mark.parametrize(
    ("content", "words"),
    [*OTHER_BYTES, *((text.encode(), words) for text, words in OTHER_TEXTS), (BOM + b"[]", "one JSON array")],
)
def test_an_object_of_another_kind_is_refused_whole_and_can_be_put_right(content: bytes, words: str) -> None:
    """Field case 22: nothing is sent, and the ledger does not count as begun."""
    world = ConvoyWorld()
    world.objects.objects[BIG] = content

    with pytest.raises(Rejected, match=r"^objectKey: the object 'c1/big.jsonl' is ") as refused:
        split(world, in_object())
    sent = bodies(world)
    world.objects.objects[BIG] = TEXT.encode()
    split(world, in_object())

    assert words in str(refused.value)
    assert (sent, len(bodies(world))) == ([], len(ENTRIES))


@pytest.mark.parametrize("mark", [b"", BOM])
def test_an_object_of_lines_is_read_with_or_without_a_byte_order_mark(mark: bytes) -> None:
    """Field case 22: it is no part of the first entry, and moves no line."""
    world = ConvoyWorld()
    world.objects.objects[BIG] = mark + TEXT.encode()

    split(world, in_object())

    sent = bodies(world)
    world.run()

    assert sent == [("A", 0), ("A", 1), ("B", 2)]
    assert (world.applied("A"), world.applied("B")) == ([1, 2], [1])


def test_a_first_line_that_is_cut_off_stops_its_own_order_only(tmp_path: Path) -> None:
    """C2: the lines behind it show that it is a file of lines."""
    path = tmp_path / "today.jsonl"
    path.write_text('{"orderId": "C", "seq\n' + TEXT)
    survey = surveyed(opened(path, "shop", ""))
    assert (survey.entries, survey.faulty) == (len(ENTRIES) + 1, 1)


def test_a_first_line_longer_than_what_is_looked_at_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = tmp_path / "today.jsonl"
    path.write_text(json.dumps(entry("C", 1, "create", note="x" * 2 * ENOUGH)) + "\n" + TEXT)
    assert surveyed(opened(path, "shop", "")).faulty == 0


@pytest.mark.parametrize(
    "content", [COMMAS, "[1, 2]", '"a"\n"b"', "{oops\n{oops", '{"op": "add"}\n{"op": "add"}', '{"orderId": "a b"}']
)
def test_a_ledger_that_holds_nothing_valid_is_not_sent(tmp_path: Path, content: str) -> None:
    """Field case 22."""
    path = tmp_path / "today.jsonl"
    path.write_text(content)
    with pytest.raises(UserError):
        surveyed(opened(path, "shop", ""))


def test_a_ledger_of_another_shops_events_is_sent(tmp_path: Path) -> None:
    """The deployment's adapters read them; this machine may not have them."""
    path = tmp_path / "today.jsonl"
    path.write_text('{"headers": {}, "body": {}}\n')
    assert surveyed(opened(path, "shop", "")).foreign == 1


@pytest.mark.parametrize("content", ["[1, 2]", '"a"\n"b"', "7", "[[]]", "null"])
def test_orders_of_which_none_can_be_one_are_not_sent(tmp_path: Path, content: str) -> None:
    """Field case 22: it ends before it looks for a deployment."""
    path = tmp_path / "today.json"
    path.write_text(content)
    with pytest.raises(UserError, match="nothing was sent: none of it is a JSON object"):
        send(Target.chosen(stack="s", env="", local=False, endpoint="http://127.0.0.1:9", region="r"), [path])


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "today.json"
    path.write_text("{}")

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    for reads in (read, lambda path: opened(path, "shop", "")):
        with pytest.raises(UserError, match="cannot be read: Permission denied"):
            reads(path)
