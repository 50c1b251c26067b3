"""Messages between the parts, as text and back."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.errors import NotUnderstood, Permanent, Rejected
from stepward.domain.key import child_key
from stepward.domain.messages import (
    Cancel,
    ChildEnded,
    ChildHeard,
    ChildSubmit,
    ChildUndo,
    Outcome,
    Pause,
    Reply,
    Report,
    Resubmit,
    Resume,
    Retry,
    Start,
    StepRequest,
    ToScheduler,
    Undo,
)
from stepward.wire import messages
from stepward.wire.checked_text import MAX_DEPTH
from stepward.wire.messages import MAX_RESULT_BYTES, decode_for_scheduler, decode_request, encode, encode_result
from stepward.wire.order import Accepted, accept
from stepward.wire.strict_json import parse
from tests.unit.wire.plain_values import OBJECTS, TEXT
from tests.unit.wire.refusals import refused

IDS = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
NAMES = st.from_regex(r"\A[a-z][a-z0-9_-]{0,39}\Z")
COUNTS = st.integers(0, 2**53)
CHILDREN = st.builds(child_key, IDS, NAMES) | st.builds(child_key, st.builds(child_key, IDS, NAMES), NAMES)
TO_SCHEDULER = st.one_of(
    st.builds(Start, IDS),
    st.builds(Retry, IDS, NAMES, COUNTS),
    st.builds(Resubmit, IDS, NAMES, COUNTS, who=TEXT, why=TEXT),
    st.sampled_from([Undo, Cancel, Pause, Resume]).flatmap(lambda kind: st.builds(kind, IDS, who=TEXT, why=TEXT)),
    st.builds(Report, IDS),
    st.sampled_from([ChildSubmit, ChildUndo]).flatmap(lambda kind: st.builds(kind, CHILDREN, NAMES, COUNTS)),
    st.builds(ChildEnded, CHILDREN, NAMES, COUNTS, undone=st.booleans(), result=OBJECTS, error=TEXT),
    st.builds(ChildHeard, CHILDREN, undone=st.booleans()),
    st.builds(Reply, IDS, NAMES, COUNTS, NAMES, st.sampled_from(Outcome), OBJECTS, TEXT),
)
REQUESTS = st.builds(
    StepRequest,
    *(IDS, NAMES, NAMES, NAMES, COUNTS, NAMES, COUNTS, NAMES, COUNTS, st.integers(-1000, 2**53)),
    results=st.dictionaries(NAMES, OBJECTS, max_size=3),
    order=OBJECTS,
    priority=TEXT,
    tenant=TEXT,
)
REQUEST = StepRequest("ord-1", "charge", "payments", "charge", 1, "token", 1, "ord-1/charge", 1767225600000, 120_000)
REPLY = Reply("ord-1", "charge", 1, "token", Outcome.OK)


@given(TO_SCHEDULER)
def test_a_message_to_the_scheduler_comes_through_unchanged(message: ToScheduler) -> None:
    assert decode_for_scheduler(encode(message)) == message


@given(REQUESTS)
def test_a_request_to_an_agent_comes_through_unchanged(request: StepRequest) -> None:
    assert decode_request(encode(request)) == request


@pytest.mark.parametrize("form", messages._FORMS.items(), ids=str)
def test_every_field_of_a_message_is_on_the_wire(form: tuple[type, Any]) -> None:
    meant, written = form
    named = tuple(field.name for field in fields(meant) if field.name != "delay")
    assert named == written.__struct_fields__


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (Start("ord-1"), "task.start"),
        (Retry("ord-1", "charge", 1), "step.retry"),
        (Resubmit("ord-1", "charge", 3, "Kim", "card renewed"), "step.resubmit"),
        (Undo("ord-1", "Kim", "sold twice"), "task.undo"),
        (Cancel("ord-1", "shop", "no longer wanted"), "task.cancel"),
        (Pause("ord-1", "Kim", "stock is being counted"), "task.pause"),
        (Resume("ord-1", "Kim", "counted"), "task.resume"),
        (Report("ord-1"), "task.report"),
        (REPLY, "step.reply"),
        (REQUEST, "step.request"),
    ],
)
def test_the_text_is_ascii_in_camel_case_with_a_type(message: ToScheduler | StepRequest, kind: str) -> None:
    text = encode(message)
    assert text.isascii()
    written = json.loads(text)
    assert (written["type"], written["orderId"]) == (kind, "ord-1")
    assert not [key for key in written if "_" in key]


@pytest.mark.parametrize("kind", [Undo, Cancel, Pause, Resume])
def test_a_command_says_who_wants_it_and_why(kind: Any) -> None:
    """S7: an operator's command is logged with a name and a reason."""
    for missing in ("who", "why"):
        text = json.loads(encode(kind("ord-1", "Kim", "because")))
        del text[missing]
        assert missing in str(refused(decode_for_scheduler, json.dumps(text)))


def test_the_delay_of_a_retry_is_not_in_the_text() -> None:
    """S13: the queue holds the message back for so long."""
    assert decode_for_scheduler(encode(Retry("ord-1", "charge", 1, 7_000))) == Retry("ord-1", "charge", 1)


def test_numbers_of_an_order_arrive_exactly_and_never_as_floats() -> None:
    order: dict[str, Any] = {"count": 3, "weight": Decimal("0.10000000000000000001"), "price": "12.30"}
    arrived = decode_request(encode(replace(REQUEST, order=order))).order
    assert arrived == order
    assert {key: type(value) for key, value in arrived.items()} == {"count": int, "weight": Decimal, "price": str}


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_the_deepest_order_and_the_deepest_result_still_fit_a_request() -> None:
    content = {"orderId": "ord-1", "type": "order.submitted", "version": 1, "submittedAt": "2026-01-01T00:00:00Z"}
    lines = {"currency": "EUR", "items": [{"sku": "a", "qty": 1, "unitPrice": "1"}], "deep": nested(MAX_DEPTH - 1)}
    accepted = accept(json.dumps(content | lines), {})
    assert isinstance(accepted, Accepted)
    with pytest.raises(Rejected, match="nested deeper"):
        accept(json.dumps(content | lines | {"deep": nested(MAX_DEPTH)}), {})
    result: Any = parse(encode_result(nested(MAX_DEPTH)))
    body: Any = parse(accepted.order.body)
    request = replace(REQUEST, order=body, results={"reserve": result})
    assert decode_request(encode(request)) == request


def test_an_error_in_any_words_can_be_sent() -> None:
    reply = replace(REPLY, outcome=Outcome.PERMANENT, error="bad \x00 \ud800 answer" + "x" * 5000)
    arrived = decode_for_scheduler(encode(reply))
    assert isinstance(arrived, Reply)
    assert arrived.error.startswith("bad \ufffd \ufffd answerx")
    assert len(arrived.error) == 1000


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "(body)"),
        ("[]", "(body)"),
        ("{}", "type"),
        ('{"orderId":"ord-1"}', "type"),
        ('{"type":7,"orderId":"ord-1"}', "type"),
        ('{"type":"task.start"}', "orderId"),
        ('{"type":"task.start","orderId":"~plan#1"}', "orderId"),
        ('{"type":"task.start","orderId":"a","orderId":"b"}', "orderId"),
        ('{"type":"step.retry","orderId":"a","step":"charge","attempt":true}', "attempt"),
        ('{"type":"step.retry","orderId":"a","step":"charge","attempt":1.0}', "attempt"),
        ('{"type":"step.retry","orderId":"a","step":"charge","attempt":-1}', "attempt"),
        ('{"type":"step.retry","orderId":"a","step":"","attempt":1}', "step"),
        ('{"type":"step.reply","orderId":"a","step":"s","attempt":1,"token":"t","outcome":2}', "outcome"),
        ('{"type":"step.reply","orderId":"a","step":"s","attempt":1,"token":"t","outcome":"ok","result":[]}', "result"),
    ],
)
def test_a_malformed_message_to_the_scheduler_is_rejected_by_field(text: str, field: str) -> None:
    assert refused(decode_for_scheduler, text).field == field


@pytest.mark.parametrize(
    ("key", "wrong"), [("completeBy", "soon"), ("fence", -1), ("results", {"reserve": 1}), ("type", 7)]
)
def test_a_malformed_request_is_rejected_by_field(key: str, wrong: object) -> None:
    assert refused(decode_request, json.dumps(json.loads(encode(REQUEST)) | {key: wrong})).field.startswith(key)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (decode_for_scheduler, '{"type":"task.stop","orderId":"ord-1"}'),
        (
            decode_for_scheduler,
            '{"type":"step.reply","orderId":"a","step":"s","attempt":1,"token":"t","outcome":"unheard-of"}',
        ),
        (decode_request, '{"type":"step.poll","orderId":"ord-1"}'),
    ],
)
def test_what_only_newer_code_sends_is_not_understood_and_no_reject(read: Callable[[str], object], text: str) -> None:
    """D1: a reject would be deleted, and the code that knows it is about to be deployed."""
    with pytest.raises(NotUnderstood, match="which this code does not know"):
        read(text)


def test_a_message_on_the_wrong_queue_is_rejected() -> None:
    assert "type: is task.start, which does not belong" in str(refused(decode_request, encode(Start("ord-1"))))
    assert "type: is step.request, which does not belong" in str(refused(decode_for_scheduler, encode(REQUEST)))


def test_a_request_without_its_type_is_rejected() -> None:
    untyped = {key: value for key, value in json.loads(encode(REQUEST)).items() if key != "type"}
    assert "type: is missing" in str(refused(decode_request, json.dumps(untyped)))


def test_a_key_that_a_newer_part_sends_is_skipped() -> None:
    assert decode_for_scheduler('{"type":"task.start","orderId":"ord-1","since":"2.0"}') == Start("ord-1")


@given(st.text())
def test_random_text_is_rejected_and_nothing_worse(text: str) -> None:
    for decode in (decode_for_scheduler, decode_request):
        refused(decode, text)


def test_a_result_of_plain_values_is_written() -> None:
    assert encode_result({"b": [1, True, None], "a": Decimal("1.50")}) == '{"a":1.5,"b":[1,true,null]}'
    assert encode_result({}) == "{}"


@pytest.mark.parametrize("result", [None, "done", 7, [], [("a", 1)]])
def test_a_result_that_is_no_object_is_refused(result: object) -> None:
    with pytest.raises(Permanent, match="return a dict"):
        encode_result(result)


@pytest.mark.parametrize("value", [1.5, object(), {1, 2}, b"x", "\x00", {1: 2}, float("nan")])
def test_a_result_that_is_not_plain_is_refused_by_field(value: object) -> None:
    with pytest.raises(Permanent, match=r"cannot be kept: charge\.amount"):
        encode_result({"charge": {"amount": value}})


def test_a_result_too_large_for_the_task_is_refused() -> None:
    """A row of DynamoDB holds 400 KB, and so many results still fit into a request."""
    at_limit = {"a": "x" * (MAX_RESULT_BYTES - len('{"a":""}'))}
    assert len(encode_result(at_limit)) == MAX_RESULT_BYTES
    with pytest.raises(Permanent, match=r"262,145 bytes .* return a reference"):
        encode_result({"a": at_limit["a"] + "x"})
