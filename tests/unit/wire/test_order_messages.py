"""How the text of a message becomes an Order."""

import hashlib
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.errors import Rejected
from stepward.domain.submission import Order
from stepward.wire.envelope import Ignored
from stepward.wire.order import MAX_ORDER_BYTES, Accepted, accept, order_id_hint
from tests.sample import LINE, PLAIN_ORDER, SCHEMAS
from tests.unit.wire.plain_values import PLAIN, respelled
from tests.unit.wire.refusals import refused


def accepted(content: object) -> Order:
    accepted = accept(json.dumps(content), SCHEMAS)
    assert isinstance(accepted, Accepted)
    return accepted.order


def refusal(**changed: object) -> Rejected:
    return refused(accept, json.dumps(PLAIN_ORDER | changed), SCHEMAS)


def test_an_order_is_stored_whole_under_the_hash_of_its_canonical_text() -> None:
    order = accepted(PLAIN_ORDER | {"giftNote": {"from": "Zoë"}})
    assert order.order_id == "ord-1001"
    assert json.loads(order.body) == PLAIN_ORDER | {"giftNote": {"from": "Zoë"}}
    assert order.content_hash == hashlib.sha256(order.body.encode()).hexdigest()


@given(PLAIN, st.randoms(use_true_random=False))
def test_the_same_order_spelled_apart_has_the_same_hash(extra: object, chance: Random) -> None:
    """S8: a second sending of the same order is a duplicate, however it is spelled."""
    content = PLAIN_ORDER | {"extra": extra}
    first, second = (accept(respelled(content, chance), SCHEMAS) for _ in range(2))
    assert first == second


def test_an_envelope_does_not_change_the_hash() -> None:
    wrapped = {"detail-type": "order.submitted", "source": "shop.a", "detail": PLAIN_ORDER}
    assert accepted(wrapped) == accepted(PLAIN_ORDER)


@pytest.mark.parametrize("changed", [{"version": 2}, {"currency": "USD"}, {"giftNote": "x"}, {"customerId": None}])
def test_other_content_has_another_hash(changed: dict[str, object]) -> None:
    assert accepted(PLAIN_ORDER | changed).content_hash != accepted(PLAIN_ORDER).content_hash


@pytest.mark.parametrize("field", ["orderId", "type", "version", "submittedAt", "currency", "items"])
def test_a_missing_field_is_named(field: str) -> None:
    content = {key: value for key, value in PLAIN_ORDER.items() if key != field}
    fault = refused(accept, json.dumps(content), SCHEMAS)
    assert (fault.field, fault.reason) == (field, "is missing")


TAKEN = {
    "orderId": ["a", "A" * 128, "0.x_y:z-1"],
    "submittedAt": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123+05:30", "2026-01-01T00:00:00-08:00"],
    "priority": ["normal", "high"],
    "completeBy": ["2026-01-01T00:00:00.001Z", "2027-12-31T00:00:00Z", "2026-01-01T08:00:00+07:00"],
}
NO_SHORT_SAFE_TEXT = ["", "x" * 257, "a b", "a\n", "é", 7, {}]
WRONG: dict[str, list[object]] = {
    "orderId": ["", "A" * 129, "-a", "~plan#1", "a/b", "a b", "é", "a\n", None, 7],
    "submittedAt": ["2026-01-01T00:00:00", "2026-01-01", "2026-02-30T00:00:00Z", "now", 1767225600, None],
    "correlationId": NO_SHORT_SAFE_TEXT,
    "replyTo": NO_SHORT_SAFE_TEXT,
    "customerId": NO_SHORT_SAFE_TEXT,
    "priority": ["HIGH", "", None, 1],
    "completeBy": [
        *("2026-01-02T00:00:00", "2026-01-02", 1767312000, "soon"),
        *("2026-01-01T00:00:00Z", "2025-01-02T00:00:00Z", "2026-01-01T06:00:00+07:00"),
        *("2028-01-02T00:00:00.001Z", "9999-12-31T00:00:00Z", "0001-01-01T00:00:00+14:00"),
    ],
    "version": [0, -1, True, 1.0, "1", None, 2**53, 10**30],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in TAKEN.items() for value in values])
def test_a_field_is_taken_and_stored_as_it_was_written(field: str, value: str) -> None:
    order = accepted(PLAIN_ORDER | {field: value})
    assert json.loads(order.body)[field] == value
    assert order.order_id == (value if field == "orderId" else "ord-1001")


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_wrong_value_is_rejected_by_its_field(field: str, value: object) -> None:
    assert refusal(**{field: value}).field == field


@pytest.mark.parametrize("price", ["0", "0.0001", "999999999999.9999"])
def test_money_is_decimal_text(price: str) -> None:
    assert accepted(PLAIN_ORDER | {"items": [LINE | {"qty": 10_000, "unitPrice": price}]})


WRONG_IN_LINE: dict[str, list[object]] = {
    "unitPrice": [1, "1.00001", "1000000000000", "+1", ".5", "1."],
    "qty": [0, 1_000_001, True],
    "sku": ["", "x" * 65, "a\n"],
}


@pytest.mark.parametrize(("field", "value"), [(name, value) for name, all_ in WRONG_IN_LINE.items() for value in all_])
def test_a_wrong_line_is_named_by_its_index(field: str, value: object) -> None:
    assert refusal(items=[LINE, LINE | {field: value}]).field == f"items[1].{field}"


@pytest.mark.parametrize("count", [0, 1001])
def test_an_order_has_1_to_1000_lines(count: int) -> None:
    assert refusal(items=[LINE] * count).field == "items"
    assert accepted(PLAIN_ORDER | {"items": [LINE] * 1000})


def order_of(size: int) -> dict[str, object]:
    spare = size - len(accepted(PLAIN_ORDER | {"note": ""}).body)
    return PLAIN_ORDER | {"note": "x" * spare}


def test_an_order_at_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    """What could pass DynamoDB's 400 KB is refused before the first write."""
    assert len(accepted(order_of(MAX_ORDER_BYTES)).body) == MAX_ORDER_BYTES
    with pytest.raises(Rejected, match=r"350,001 bytes .* limit is 350,000") as caught:
        accepted(order_of(MAX_ORDER_BYTES + 1))
    assert caught.value.field == "(body)"


def test_the_size_is_that_of_the_escaped_text() -> None:
    assert refusal(note="é" * (MAX_ORDER_BYTES // 6)).field == "(body)"


@pytest.mark.parametrize("size", [262_144, 262_145, 1_048_576, 1_048_577])
def test_white_space_is_not_part_of_the_size(size: int) -> None:
    assert isinstance(accept(json.dumps(PLAIN_ORDER).ljust(size), SCHEMAS), Accepted)


def test_a_notice_of_the_platform_is_ignored() -> None:
    assert accept('{"Service": "Amazon S3", "Event": "s3:TestEvent"}', SCHEMAS) == Ignored("S3 test event")


@given(st.text())
def test_random_text_is_rejected_and_nothing_worse(text: str) -> None:
    with pytest.raises(Rejected):
        accept(text, SCHEMAS)
    order_id_hint(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"orderId": "ord-1", "qty": NaN}',
        '{"orderId":"ord-1"',
        json.dumps('{"orderId": "ord-1"}'),
        json.dumps({"Message": json.dumps(json.dumps({"orderId": "ord-1"}))}),
        '{"orderId":"ord-1","parent":{"orderId":"ord-1"}}',
    ],
)
def test_the_order_of_a_rejected_message_is_known(text: str) -> None:
    assert order_id_hint(text) == "ord-1"


@pytest.mark.parametrize(
    "text",
    ["", "hello", '{"orderId": 7}', '{"orderId": "a b"}', '{"orderId":"a","orderId":"b"}', '{"orderId":"a\\nb"}'],
)
def test_an_unclear_order_is_not_guessed(text: str) -> None:
    assert order_id_hint(text) == ""


def test_what_the_message_asks_of_the_engine_is_read_out_of_it() -> None:
    """S19, S24."""
    asks = {"replyTo": "arn:aws:sqs:us-east-1:111122223333:replies", "correlationId": "checkout-1"}
    for asked, found in ((asks, tuple(asks.values())), (dict.fromkeys(asks), ("", ""))):
        taken = accept(json.dumps(PLAIN_ORDER | asked), SCHEMAS)
        assert isinstance(taken, Accepted)
        assert (taken.reply_to, taken.correlation_id) == found
    for text, at in (("2026-01-01T08:00:00.5+07:00", 1_767_229_200_500), (None, None)):
        limited = accept(json.dumps(PLAIN_ORDER | {"completeBy": text}), SCHEMAS)
        assert isinstance(limited, Accepted)
        assert limited.complete_by == at


def test_what_a_source_marks_as_invalid_is_no_order() -> None:
    """K5: also if nothing else is wrong with it."""

    def shop(_content: object) -> dict[str, object]:
        return PLAIN_ORDER | {"invalid": "total: is not what the lines come to"}

    with pytest.raises(Rejected) as refusal:
        accept('{"theirs": 1}', SCHEMAS, sources=[shop])
    assert (refusal.value.field, refusal.value.reason) == ("total", "is not what the lines come to")
