"""Order events and commands of the convoy as texts: read, stored, and read again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import Op, OrderEvent
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Rejected
from stepward.wire import strict_json
from stepward.wire.convoy import decode_for_lane, encode_command
from stepward.wire.envelope import Ignored
from stepward.wire.ledger import Ledger, decode_ledger, entry_in, entry_of
from stepward.wire.order import MAX_ORDER_BYTES, Accepted, accepted
from stepward.wire.order_event import details_of, event_of, order_of, stored_event
from tests.unit.wire.plain_values import OBJECTS
from tests.unit.wire.refusals import refused

CREATE = {"orderId": "A", "sequence": 1, "op": "create", "submittedAt": "2026-01-01T00:00:00Z"}
ADD = {"orderId": "A", "sequence": 2, "op": "add", "amount": "1.00"}
LEDGER = Ledger("L1", "c1", "digest")


def read(event: OrderEvent) -> tuple[str, str, Op | None, int | None]:
    return event.digest, event.fault, event.op, event.sequence


def test_the_same_event_from_two_ledgers_is_one() -> None:
    """C5: who brought it does not count, nor does the order of its fields."""
    first = event_of({**ADD, "ledgerId": "L1", "index": 0, "customerId": "c1"})
    second = event_of(dict(reversed({**ADD, "ledgerId": "L2", "index": 9}.items())))
    assert first.digest == second.digest
    assert (first.ledger_id, second.ledger_id) == ("c1|L1", "L2")
    assert event_of({**ADD, "amount": "1.01"}).digest != first.digest


def sent(found: LaneMessage | Ignored) -> LaneMessage:
    assert isinstance(found, LaneMessage)
    return found


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"op": "remove"}, "op: Invalid enum value 'remove'"),
        ({"op": None}, "op: Expected `str`, got `null`"),
        ({"sequence": 0}, "sequence: Expected `int` >= 1"),
        ({"sequence": "2"}, "sequence: Expected `int | null`, got `str`"),
        ({"sequence": True}, "sequence: Expected `int | null`, got `bool`"),
        ({"sequence": 10**9}, "sequence: Expected `int` <= 999999999"),
        ({"end": "yes"}, "end: Expected `bool | null`, got `str`"),
        ({"asOf": "yesterday"}, "asOf: Invalid RFC3339 encoded datetime"),
        ({"index": -1}, "index: Expected `int` >= 0"),
    ],
)
def test_a_fault_names_the_field_and_the_reason(change: dict[str, Any], fault: str) -> None:
    """C6: an event that is not valid is still an event of its order."""
    event = event_of({**ADD, **change})
    assert (event.order_id, event.fault, event.op) == ("A", fault, None)


@pytest.mark.parametrize("change", [{"sequence": "2.0"}, {"sequence": "20e-1", "op": '"bogus"'}, {"index": "-0.0"}])
def test_an_event_is_what_the_text_says_that_its_lane_stores(change: dict[str, str]) -> None:
    """C6: there a number is written by its value, and whoever reads it later must not decide otherwise."""
    members = {"orderId": '"A"', "op": '"add"', "sequence": "2", "ledgerId": '"L1"', "amount": '"1.00"', **change}
    event = stored_event("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}")
    assert stored_event(event.body) == event
    assert (event.sequence, bool(event.fault)) == (2, change.get("op") is not None)


def test_a_name_with_half_a_character_is_a_fault_of_the_order_that_the_event_names() -> None:
    """C6: it stops that order, and not the ledger that brought it."""
    entry = {**ADD, "\ud800": 1}
    assert "U+D800" in event_of(entry).fault
    assert sent(entry_of(LEDGER, 0, entry, ())).order_id == "A"


@pytest.mark.parametrize("order_id", [None, "", "a b", 7, "x" * 129, ["A"]])
def test_an_event_without_a_usable_order_belongs_to_nobody(order_id: Any) -> None:
    assert "orderId" in str(refused(event_of, {**ADD, "orderId": order_id}))


@given(OBJECTS)
def test_whatever_an_event_holds_it_is_read_again_as_it_was_stored(more: dict[str, Any]) -> None:
    """C6: valid or not; a retry sees the very same event."""
    event = event_of({**more, "orderId": "A"})
    stored = stored_event(event.body)
    assert read(stored) == read(event)


def test_an_event_that_is_too_large_is_stored_by_its_beginning() -> None:
    event = event_of({**ADD, "note": "n" * MAX_ORDER_BYTES})
    stored = stored_event(event.body)
    assert event.fault.startswith("(body): is 350,")
    assert event.sequence == 2
    assert len(event.body) < 2_000
    assert read(stored) == read(event)


def test_a_create_becomes_the_order_message_that_it_stands_for() -> None:
    """C2."""
    event = event_of({**CREATE, "end": True, "ledgerId": "L1", "index": 3, "customerId": "c1", "currency": "EUR"})
    details = {"submittedAt": "2026-01-01T00:00:00Z", "currency": "EUR"}
    engine = {"orderId": "A", "type": "order.submitted", "version": 1, "customerId": "c1"}
    assert (order_of(event), details_of(event)) == (engine | details, details)


@pytest.mark.parametrize(
    "command",
    [
        RetryLane("A", "ann", "mended", "a-1"),
        SkipEvent("A", -3, "ann", "not needed", "a-2"),
        ReplaceEvent("A", 7, json.dumps(ADD), "ann", "corrected", "a-3"),
    ],
)
def test_a_command_is_read_as_it_was_written(command: LaneCommand) -> None:
    assert decode_for_lane(encode_command(command)) == command


def test_what_people_typed_is_cleaned_before_it_is_sent() -> None:
    text = encode_command(RetryLane("A", "ann", "x" * 300 + "\x00", "a-1"))
    command = decode_for_lane(text)
    assert isinstance(command, RetryLane)
    assert command.why == "x" * 200


def test_a_command_with_an_unknown_field_is_refused() -> None:
    text = json.dumps({"type": "convoy.skip", "orderId": "A", "who": "a", "why": "", "commandId": "1"})
    assert "position: is missing" in str(refused(decode_for_lane, text))


@pytest.mark.parametrize("text", ["7", "[]", "null", '"x"', "{", ""])
def test_a_message_that_is_no_object_belongs_to_nobody(text: str) -> None:
    refused(decode_for_lane, text)


def test_an_event_may_come_in_an_envelope() -> None:
    wrapped = json.dumps({"Type": "Notification", "TopicArn": "arn", "Message": json.dumps(ADD)})
    found = decode_for_lane(wrapped)
    assert isinstance(found, OrderEvent)
    assert found.op is Op.ADD
    assert isinstance(decode_for_lane('{"Service":"Amazon S3","Event":"s3:TestEvent"}'), Ignored)


def test_the_first_source_that_knows_a_shape_makes_the_event_of_it() -> None:
    found = decode_for_lane('{"strange": 1}', sources=[lambda _: None, lambda _: ADD])
    assert isinstance(found, OrderEvent)
    assert found.sequence == 2


def test_a_ledgers_digest_is_of_what_it_says() -> None:
    def digest(text: str) -> str:
        ledger = decode_ledger(text)
        assert isinstance(ledger, Ledger)
        return ledger.digest

    one = digest('{"ledgerId":"L","customerId":"c","entries":[{"a":1.50}]}')
    assert one == digest('{ "entries": [{"a": 1.5}], "customerId": "c", "ledgerId": "L" }')
    assert one != digest('{"ledgerId":"L","customerId":"c","entries":[{"a":1.6}]}')


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"ledgerId":"L","entries":[1]}', "customerId"),
        ('{"customerId":"c","entries":[1]}', "ledgerId"),
        ('{"ledgerId":"L|x","customerId":"c","entries":[1]}', "ledgerId"),
        ('{"ledgerId":"L","customerId":"c","entries":[]}', "entries"),
        ('{"ledgerId":"L","customerId":"c","entries":{}}', "entries"),
        ('{"ledgerId":"L","ledgerId":"M","customerId":"c","entries":[1]}', "ledgerId"),
        ("[]", "(body)"),
    ],
)
def test_a_ledger_that_cannot_be_names_the_field(text: str, field: str) -> None:
    assert refused(decode_ledger, text).field == field


def test_an_entry_says_who_brought_it_and_cannot_say_otherwise() -> None:
    message = sent(entry_of(LEDGER, 4, {**ADD, "ledgerId": "forged", "index": 0, "customerId": "forged"}, ()))
    assert json.loads(message.body) == {**ADD, "ledgerId": "L1", "index": 4, "customerId": "c1"}
    assert (message.order_id, message.name) == ("A", "c1|L1/4")


@given(st.binary(max_size=60))
def test_no_line_breaks_the_split(line: bytes) -> None:
    """It is an entry of its order, or refused."""
    try:
        message = sent(entry_in(LEDGER, 0, line, ()))
    except Rejected:
        return
    assert isinstance(stored_event(message.body), OrderEvent)


def test_a_line_that_is_not_json_stops_the_order_that_it_names() -> None:
    """C6."""
    message = sent(entry_in(LEDGER, 0, b'{"orderId": "A", "sequence": 2, ', ()))
    event = stored_event(message.body)
    assert (event.order_id, event.sequence) == ("A", None)
    assert event.fault.startswith("(body): is not JSON")
    assert strict_json.parse(message.body)


def test_the_order_message_of_a_create_is_accepted_by_submission() -> None:
    assert isinstance(accepted(order_of(event_of(CREATE))), Accepted)
