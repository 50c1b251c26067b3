"""The wording of msgspec's complaints, read in one place."""

from typing import Any

import msgspec
import pytest

from stepward.domain.errors import Rejected
from stepward.wire.conversion import converted


class Part(msgspec.Struct):
    sku: str


class Other(msgspec.Struct, tag="other"):
    """A second form, so that the tag has to be there."""


class Whole(msgspec.Struct, tag="whole"):
    parts: list[Part]
    counts: dict[str, int] = {}
    by_number: dict[int, str] = {}


EITHER: Any = Whole | Other


@pytest.mark.parametrize(
    ("value", "field", "reason"),
    [
        ({}, "type", "is missing"),
        ({"type": "whole"}, "parts", "is missing"),
        ({"type": "whole", "parts": [{}]}, "parts[0].sku", "is missing"),
        ({"type": "whole", "parts": [{"sku": 1}]}, "parts[0].sku", "Expected `str`, got `int`"),
        ({"type": "whole", "parts": [], "counts": {"a": "x"}}, "counts[...]", "Expected `int`, got `str`"),
        ({"type": "whole", "parts": [], "by_number": {"a": "x"}}, "by_number", "Expected `int`, got `str`"),
        ([], "(body)", "Expected `object`, got `array`"),
        ({"type": "x` - at `$.parts`"}, "type", "Invalid value 'x` - at `$.parts`'"),
    ],
)
def test_a_complaint_becomes_a_field_and_a_reason(value: object, field: str, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        converted(value, EITHER)
    assert (caught.value.field, caught.value.reason) == (field, reason)


def test_a_reason_is_short_whatever_was_sent() -> None:
    with pytest.raises(Rejected) as caught:
        converted({"type": "x" * 100_000}, EITHER)
    assert caught.value.field == "type"
    assert len(caught.value.reason) == 300


def test_a_name_that_is_no_unicode_text_is_refused_like_any_fault() -> None:
    with pytest.raises(Rejected) as caught:
        converted({"type": "whole", "parts": [], "\ud800": 1}, EITHER)
    assert "U+D800" in str(caught.value)
