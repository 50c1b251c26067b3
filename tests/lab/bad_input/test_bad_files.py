"""Whatever is in a file that somebody gives to the command line: it says what is wrong, or sends what can be taken."""

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepward.cli.convoy.refusals import replacement
from stepward.cli.ledger.files import LedgerFile, as_lines, message_of, opened, pointer_of, surveyed
from stepward.cli.orders import files as order_files
from stepward.cli.user_error import UserError
from stepward.domain.convoy.commands import ReplaceEvent
from stepward.domain.convoy.lane import Lane
from stepward.wire.convoy import encode_command
from tests.factories import order_text
from tests.lab.bad_input.damage import damaged
from tests.lab.bad_input.lane_doors import ORDER, create
from tests.lab.bad_input.ledger_doors import ledger
from tests.lab.bad_input.test_bad_input import EXAMPLES, FOUND
from tests.lab.convoy.world import ConvoyWorld, entry


def a_ledger(path: Path) -> None:
    """A ledger is surveyed, then sent as a message or as an object, and is split either way."""
    given = opened(path, "c1", "")
    survey = surveyed(given)
    assert split(given) == survey.entries
    assert len(survey.faults) <= survey.faulty <= survey.entries


def split(given: LedgerFile) -> int:
    """How many messages to lanes, and rejects, a processor makes of the file's ledger."""
    world, text = ConvoyWorld(), message_of(given)
    if not text:
        with as_lines(given) as (lines, key):
            world.objects.objects[key], text = lines.read_bytes(), pointer_of(given, key)
    world.split().handle(text, lambda: 60_000)
    return len(world.events.bodies) + len(world.rejects.kept)


def orders(path: Path) -> None:
    """Each order message is taken as it is written, with its fault."""
    found = order_files.read(path)
    assert all(written.position and written.body for written in found)
    assert all(str(written.fault) for written in found)


def an_event(path: Path) -> None:
    """A corrected event can be sent, or is refused at once."""
    (written, *_) = order_files.read(path)
    body = replacement(Lane(ORDER), 2, written.body)
    assert encode_command(ReplaceEvent(ORDER, 2, body, "ann", "why", "a-1"))


EVENT = json.dumps(entry(ORDER, 2, "add", amount="1.50"))
FILES: Mapping[str, tuple[str, str, Callable[[Path], None]]] = {
    "a ledger": ("ledger.json", ledger("L-1", json.dumps(create(ORDER)), EVENT), a_ledger),
    "a ledger of lines": ("ledger.jsonl", f"{json.dumps(create(ORDER))}\n{EVENT}\n", a_ledger),
    "orders": ("orders.json", f"[{order_text()}, {order_text('ord-2')}]", orders),
    "an event": ("event.json", EVENT, an_event),
}


def give(name: str, text: str) -> None:
    """Have the command line read a file with this text."""
    file, _, read = FILES[name]
    said = "taken"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read(path)
        except UserError as refused:
            said = str(refused)
    assert said


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_damaged_file_is_declined_in_words_or_taken(name: str, data: st.DataObject) -> None:
    """What every part must give: a clear error, and no traceback."""
    give(name, data.draw(damaged(FILES[name][1])))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
@pytest.mark.parametrize("name", FILES)
def test_what_was_found_before_is_declined_in_words_or_taken(name: str, path: Path) -> None:
    give(name, path.read_bytes().decode("utf-8", "surrogatepass"))
