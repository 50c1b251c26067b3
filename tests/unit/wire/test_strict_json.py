"""One reader and one canonical form of JSON."""

import json
import sys
from contextlib import suppress
from decimal import Decimal
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepward.domain.errors import Rejected
from stepward.wire.checked_text import MAX_DEPTH, cleaned
from stepward.wire.strict_json import canonical, parse
from tests.unit.wire.plain_values import PLAIN, respelled
from tests.unit.wire.refusals import refused


@given(st.text() | st.binary())
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example("9" * 5000)
@example("1e" + "9" * 30)
@example("0e-999999999")
@example('"\ud800"')
@example(b"\xff\xfe{\x00}\x00")
def test_whatever_arrives_is_read_or_rejected(text: str | bytes) -> None:
    with suppress(Rejected):
        assert canonical(parse(text)).isascii()


@given(PLAIN, st.randoms(use_true_random=False))
def test_order_of_keys_and_white_space_do_not_change_the_canonical_text(value: object, chance: Random) -> None:
    assert canonical(parse(respelled(value, chance))) == canonical(value)


@given(PLAIN)
def test_the_canonical_text_is_ascii_and_reads_back_as_the_same_value(value: object) -> None:
    text = canonical(value)
    assert text.isascii()
    assert parse(text) == value
    assert parse(text.encode()) == value


@given(st.floats(-1e120, 1e120).filter(lambda number: not number or 1e-120 < abs(number) < 1e120))
def test_no_digit_of_a_number_is_lost(number: float) -> None:
    spelled = repr(number)
    assert parse(spelled) == Decimal(spelled)
    assert Decimal(canonical(Decimal(spelled))) == Decimal(spelled)


@pytest.mark.parametrize(
    ("spellings", "written"),
    [
        (["1.5", "1.50", "15e-1", "0.15E1"], "1.5"),
        (["-0", "-0.0", "0e500"], "0"),
        (["1.0"], "1"),
        (["100"], "100"),
        (["1e3"], "1000"),
        (["-2.50"], "-2.5"),
    ],
)
def test_a_number_is_written_by_value(spellings: list[str], written: str) -> None:
    assert {canonical(parse(spelled)) for spelled in spellings} == {written}


def test_integers_stay_integers_and_the_rest_become_decimals() -> None:
    assert json.dumps(parse("[1, true]")) == "[1, true]"
    assert repr(parse("[30.40]")) == "[Decimal('30.40')]"


@pytest.mark.parametrize("number", ["9" * 38, "1" + "0" * 125, "9." + "9" * 37 + "e125", "1e-130", "-1e125"])
def test_the_largest_and_smallest_numbers_of_dynamodb_are_kept(number: str) -> None:
    assert Decimal(canonical(parse(number))) == Decimal(number)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("9" * 39, "38 significant digits"),
        ("0." + "1" * 39, "38 significant digits"),
        ("1" + "0" * 126, "beyond the range"),
        ("1e126", "beyond the range"),
        ("1e-131", "beyond the range"),
        ("9" * 5000, "5000 characters"),
        ("0." + "0" * 300, "302 characters"),
        ("1e99999999999999999999", "beyond any range"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
    ],
)
def test_a_number_that_dynamodb_cannot_hold_is_rejected_where_it_stands(number: str, says: str) -> None:
    fault = refused(parse, f'{{"items": [{{"qty": 1}}, {{"qty": {number}}}]}}')
    assert fault.field == "items[1].qty"
    assert says in fault.reason


def test_nesting_is_bounded() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    fault = refused(parse, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert fault.field == "[0]" * MAX_DEPTH
    assert "32 levels" in fault.reason


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"a":{},"a":null}', '{"a":NaN,"\\u0061":1}'])
def test_a_key_may_appear_once(text: str) -> None:
    assert refused(parse, text).args == Rejected("a", "appears more than once in its object").args


@pytest.mark.parametrize("character", ["\\u0000", "\\u001f", "\\ud83d", "\\udc00", "\\ufffe", "\\uffff", "\ud83d"])
def test_characters_that_sqs_refuses_are_rejected_in_values_and_in_keys(character: str) -> None:
    assert refused(parse, f'{{"a": ["{character}"]}}').field == "a[0]"
    in_key = refused(parse, f'{{"{character}": 1}}')
    assert in_key.field.isascii()
    assert "does not carry" in in_key.reason


def test_sqs_carries_every_other_character() -> None:
    carried = [0x9, 0xA, 0xD, *range(0x20, 0xD800), *range(0xE000, 0xFFFE), *range(0x10000, sys.maxunicode + 1)]
    text = "".join(map(chr, carried))
    assert cleaned(text, len(text)) == text
    refused_by_sqs = "".join(map(chr, {*range(0x10000)} - {*carried}))
    assert cleaned(refused_by_sqs, 10_000) == "\ufffd" * len(refused_by_sqs)


@pytest.mark.parametrize("text", ["", " \n\t", b"", b"  "])
def test_nothing_is_rejected_as_empty(text: str | bytes) -> None:
    assert refused(parse, text).args == Rejected("(body)", "is empty").args


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\ufeff{}", "byte order mark"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ('"é"'.encode("latin-1"), "UTF-8"),
        ('"é"'.encode("utf-16"), "UTF-8"),
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
    ],
    ids=["a mark", "a mark in bytes", "Latin-1", "UTF-16", "deep lists", "deep objects"],
)
def test_what_the_parser_cannot_take_is_rejected_with_the_reason(text: str | bytes, says: str) -> None:
    assert says in refused(parse, text).reason


def test_bytes_are_utf_8() -> None:
    assert parse('"é"'.encode()) == "é"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"a": [1.5]}, "a[0]"),
        *(({"a": value}, "a") for value in ({1}, {1: "x"}, b"x", 10**5000)),
        *(({"a": Decimal(number)}, "a") for number in ("NaN", "sNaN", "Infinity", "1e999999")),
        ({"odd key": object()}, '["odd key"]'),
        (1.5, "(body)"),
    ],
)
def test_the_canonical_text_is_refused_for_what_it_cannot_hold(value: object, field: str) -> None:
    assert refused(canonical, value).field == field


def test_a_value_that_holds_itself_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert "nested deeper" in str(refused(canonical, circle))


def test_keys_are_sorted_at_every_level() -> None:
    assert canonical({"b": {"z": 1, "a": (2, 3)}, "a": "é"}) == '{"a":"\\u00e9","b":{"a":[2,3],"z":1}}'


@given(st.text(), st.integers(0, 50))
def test_cleaned_text_always_travels(text: str, limit: int) -> None:
    clean = cleaned(text, limit)
    assert len(clean) == min(len(text), limit)
    assert parse(canonical(clean)) == clean
