"""The wording of msgspec's complaints, read in one place."""

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from stepward.wire import conversion
from stepward.wire.conversion import converted
from tests.unit.wire.refusals import refused


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
    fault = refused(converted, value, EITHER)
    assert (fault.field, fault.reason) == (field, reason)


def test_a_reason_is_short_whatever_was_sent() -> None:
    fault = refused(converted, {"type": "x" * 100_000}, EITHER)
    assert (fault.field, len(fault.reason)) == ("type", 300)


def test_a_name_that_is_no_unicode_text_is_refused_like_any_fault() -> None:
    assert "U+D800" in str(refused(converted, {"type": "whole", "parts": [], "\ud800": 1}, EITHER))


def test_one_thread_at_a_time_learns_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    class New(msgspec.Struct):
        count: int

    convert = msgspec.convert
    alone: list[bool] = []

    def watched(value: object, into: Any) -> Any:
        if value is None:
            alone.append(conversion._learning.locked())
        return convert(value, into)

    monkeypatch.setattr(msgspec, "convert", watched)
    assert [converted({"count": number}, New) for number in (1, 2)] == [New(1), New(2)]

    assert alone == [True]


TWO_THREADS = """
from threading import Event, Thread
from msgspec import Struct
from stepward.wire.conversion import converted

inside, go_on = Event(), Event()

def slow():
    inside.set()
    assert go_on.wait(60)
    return int

class Part(Struct):
    count: "slow()"

class Whole(Struct):
    part: Part
    parts: list[Part]

def convert():
    done.append(converted({"part": {"count": 1}, "parts": []}, Whole))

done = []
first, second = Thread(target=convert), Thread(target=convert)
first.start()
assert inside.wait(60)
second.start()
second.join(0.1)
go_on.set()
first.join()
second.join()
assert done == [Whole(Part(1), [])] * 2, done
"""


def test_a_form_that_one_thread_is_learning_is_not_used_by_another() -> None:
    """In a process of its own: without the lock, msgspec 0.22 ends it with a segmentation fault."""
    command = [sys.executable, "-c", TWO_THREADS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this very Python
    assert (done.returncode, done.stderr) == (0, "")
