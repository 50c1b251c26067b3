"""What is plain is read and written at once; whatever is not agrees with the strict reader and writer."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepward.domain.errors import Rejected
from stepward.domain.messages import Outcome, Reply, StepRequest
from stepward.wire import messages, strict_json
from stepward.wire.checked_text import MAX_DEPTH, check
from stepward.wire.strict_json import canonical, parse
from tests.unit.wire.plain_values import PLAIN

_NUMBERS = ["-0", "-0.0", "1.50", "1e5", "1E+5", "1E+200", "1e-131", "9" * 38, "9" * 39, "0." + "1" * 36, "1" * 300]
_NUMBERS += ["NaN", "-Infinity", "01", "1.", "0.0", "0." + "0" * 37 + "1", "18446744073709551616"]
_TEXTS = ['"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\b"', '"\x7f"', '"é"', '"\\u00e9"', '"\ufffe"', '"\x01"']
_TEXTS += ['"a"', '""', '"[{"', '"\ud800"', '"\\/"', '"' + "0" * 39 + '"', "nul", "true", "null"]
_KEYS = st.sampled_from(['"a"', '"b"', '"\\u0061"', '"é"', "a", '"\ufffe"'])
JSON = st.recursive(
    st.sampled_from([*_NUMBERS, *_TEXTS]) | PLAIN.map(strict_json.shown),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([",", ", ", ",,"]), st.lists(inner, max_size=3)).map(
            lambda found: f"[{found[0].join(found[1])}]"
        ),
        st.tuples(st.sampled_from([":", ": ", " :"]), st.lists(st.tuples(_KEYS, inner), max_size=3)).map(
            lambda found: "{" + ",".join(f"{key}{found[0]}{value}" for key, value in found[1]) + "}"
        ),
    ),
    max_leaves=8,
)


class Level(IntEnum):
    HIGH = 2


VALUES = st.recursive(
    PLAIN
    | st.floats()
    | st.decimals()
    | st.sampled_from([Outcome.OK, Level.HIGH, b"x", {1}, {1: 2}, {True: 1}, {None: 1}, "\x7f", "\ud800", "\x01", "é"])
    | st.sampled_from([10**38, 10**38 - 1, -(10**40), 1.0, Decimal("1.50"), 1e22, True, "0" * 39, "[{" * MAX_DEPTH])
    | st.sampled_from([UUID(int=1), dt.date(2026, 1, 1), MappingProxyType({"b": 1, "a": 2}), object()]),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


def came_of(act: Callable[[], Any]) -> tuple[type, object]:
    """What an act gives with its type, or whom it blames for what."""
    try:
        found = act()
    except Rejected as error:
        return Rejected, error.args
    return type(found), repr(found)


@given(JSON)
@example("[" * MAX_DEPTH + "]" * MAX_DEPTH)
@example("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
@example('{"a":1,"b":[{"a":1,"a":1}]}')
@example('["\\u0000"]')
@example('["\ufffe"]')
@example(f'{{"a":[{"9" * 39}]}}')
@example('{"a":[1E+200]}')
@example("[" + "1" * 20 + "." + "1" * 20 + "]")
def test_every_text_means_what_the_strict_reader_says(text: str) -> None:
    def strictly() -> object:
        value = strict_json.parse_unchecked(text)
        check(value)
        return value

    assert came_of(lambda: parse(text)) == came_of(strictly)


@given(VALUES)
@example([1.0])
@example({"a": Decimal("1.50")})
@example(["\x7f"])
@example(["é"])
@example(["\x01"])
@example([b"x"])
@example([10**38])
@example([[[]] * MAX_DEPTH])
@example({"z": {"b": 1, "a": 2}, "a": []})
def test_every_value_is_written_as_the_strict_writer_does(value: object) -> None:
    def strictly() -> str:
        check(value)
        return strict_json.shown(value)

    assert came_of(lambda: canonical(value)) == came_of(strictly)


def test_nesting_is_counted_in_what_is_written_as_well() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    with pytest.raises(Rejected, match="nested deeper"):
        canonical(deep)


def test_ordinary_messages_need_no_strict_reader_and_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    order = {"orderId": "o-1", "items": [{"sku": "A", "qty": 2, "price": "12.30"}], "version": 1}
    request = StepRequest(
        *("o-1", "charge", "payments", "charge", 1, "a token", 3, "o-1/charge", 1_700_000_000_000, 30_000),
        results={"screen": {"score": 3}},
        order=order,
    )
    reply = Reply("o-1", "charge", 1, "a token", Outcome.OK, {"paid": True})
    for name in ("_load", "check"):
        monkeypatch.setattr(strict_json, name, None)
    assert messages.decode_request(messages.encode(request)) == request
    assert messages.decode_for_scheduler(messages.encode(reply)) == reply
