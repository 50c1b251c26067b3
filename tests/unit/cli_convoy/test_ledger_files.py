"""Ledgers in files, before they are sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepward.app.ledger.split import progress_of
from stepward.cli.ledger.files import LARGEST_MESSAGE, as_lines, message_of, opened, pointer_of, surveyed
from stepward.cli.user_error import UserError
from stepward.testing.memory.assembly import memory_assembly
from stepward.testing.memory.lanes import MemoryLaneQueue, MemoryLedgers
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.wire.ledger import decode_ledger
from tests.factories import sequence
from tests.planned_app import PlannedApp
from tests.unit.cli_convoy.lane_lives import entry
from tests.unit.engine.world import Clock

ENTRIES = [entry(1, "create", "a"), entry(1, "create", "b"), entry(2, "modify", "a"), {"op": "add"}]


def ledger_file(folder: Path, content: object) -> Path:
    path = folder / "today.json"
    path.write_text(json.dumps(content))
    return path


def lines_file(folder: Path, *lines: str) -> Path:
    path = folder / "today.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_survey_counts_entries_and_orders_and_says_what_will_stop_them(tmp_path: Path) -> None:
    """C2: checked with the code that walks the ledger later."""
    content = {"ledgerId": "l-1", "customerId": "shop", "entries": ENTRIES}
    for path in (ledger_file(tmp_path, content), lines_file(tmp_path, *map(json.dumps, ENTRIES), "{oops")):
        survey = surveyed(opened(path, "shop", ""))
        assert survey.orders == {"a", "b"}
        assert survey.faults[0].startswith("entry 2: modifies: is missing")
        assert survey.faults[1].startswith("entry 3: orderId: ")
    assert survey.entries == 5
    assert survey.faulty == 3


def test_a_small_ledger_is_one_message(tmp_path: Path) -> None:
    content = {"ledgerId": "l-1", "customerId": "shop", "entries": ENTRIES}
    of_json = message_of(opened(ledger_file(tmp_path, content), "", ""))
    of_lines = message_of(opened(lines_file(tmp_path, *map(json.dumps, ENTRIES)), "shop", "l-1"))
    assert json.loads(of_json) == content
    assert json.loads(of_lines) == content


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_ledger_too_large_for_a_message_goes_as_an_object_of_lines(tmp_path: Path, suffix: str) -> None:
    """C3: what the object holds is what the ledger said, entry by entry."""
    entries = [entry(position, amount="x" * 2_000) for position in range(1, 601)]
    if suffix == ".json":
        path = ledger_file(tmp_path, {"ledgerId": "l-1", "customerId": "shop", "entries": entries})
    else:
        path = lines_file(tmp_path, *map(json.dumps, entries))
    ledger = opened(path, "shop", "l-1")
    assert message_of(ledger) == ""

    with as_lines(ledger) as (lines, key):
        objects = {key: lines.read_bytes()}
    queue, shared_records = MemoryFifoQueue(name="order-events.fifo", clock=Clock()), MemorySharedRecords()
    ports: dict[str, Any] = {"lane_queue": MemoryLaneQueue(queue), "shared_records": shared_records}
    ports["ledgers"] = MemoryLedgers(objects)
    split = memory_assembly(Clock(), app=PlannedApp(sequence("reserve")), **ports).ledger()
    split.handle(pointer_of(ledger, key), lambda: 60_000)

    assert queue.waiting == 600
    progress = progress_of(shared_records, "shop", "l-1")
    assert progress is not None
    assert (progress.done, progress.index) == (True, 600)
    assert progress_of(shared_records, "shop", "l-2") is None


def test_a_ledger_that_grows_too_large_as_it_is_written_goes_as_an_object(tmp_path: Path) -> None:
    """Two bytes in a file, six in a message that every queue can carry."""
    entries = [entry(position, text="\u00e9" * 40_000) for position in range(1, 9)]
    path = tmp_path / "today.jsonl"
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in entries), encoding="utf-8")
    assert path.stat().st_size < LARGEST_MESSAGE
    assert message_of(opened(path, "shop", "")) == ""


def test_a_line_that_cannot_stand_in_a_message_sends_the_whole_as_an_object(tmp_path: Path) -> None:
    """C3: it stops its own order only, and the others are not held up by it."""
    ledger = opened(lines_file(tmp_path, json.dumps(ENTRIES[0]), '{"orderId": "b", "sequence": 1e999}'), "shop", "")
    assert message_of(ledger) == ""
    assert surveyed(ledger).faulty == 1


def test_the_same_file_is_the_same_ledger_however_often_it_is_sent(tmp_path: Path) -> None:
    """C3."""
    first = opened(lines_file(tmp_path, json.dumps(ENTRIES[0])), "shop", "")
    again = opened(lines_file(tmp_path, json.dumps(ENTRIES[0])), "shop", "")
    other = opened(lines_file(tmp_path, json.dumps(ENTRIES[1])), "shop", "")
    assert first.ledger_id == again.ledger_id != other.ledger_id
    with as_lines(first) as (_, key), as_lines(other) as (_, other_key):
        assert key != other_key or first.path == other.path
    taken = decode_ledger(pointer_of(first, "ledgers/x.jsonl"))
    assert taken == decode_ledger(pointer_of(again, "ledgers/x.jsonl"))


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ([1], ("shop", ""), "is no ledger"),
        ({"entries": {}}, ("shop", ""), "is no ledger"),
        ({"entries": []}, ("shop", ""), "holds no entry"),
        ({"entries": ENTRIES}, ("", ""), "give --customer"),
        ({"entries": ENTRIES}, ("a b", ""), "customerId"),
        ({"entries": ENTRIES}, ("shop", "x" * 200), "ledgerId"),
        ({"entries": ENTRIES, "customerId": "shop"}, ("other", ""), "correct one of them"),
        ({"entries": ENTRIES, "customerId": 7}, ("", ""), "customerId"),
    ],
)
def test_what_is_no_ledger_is_refused(tmp_path: Path, content: Any, options: tuple[str, str], words: str) -> None:
    with pytest.raises(UserError) as declined:
        surveyed(opened(ledger_file(tmp_path, content), *options))
    assert words in str(declined.value)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        opened(tmp_path / "none.json", "shop", "")
