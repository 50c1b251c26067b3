"""Good messages, damaged: a field changed, taken away or doubled, a text cut, filled or wrapped."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

DEEP = "[" * 40 + "]" * 40
LITERALS = [
    "null", "true", "0", "-1", "1.5", "1e999", "-0.0", "1e-400", "NaN", "Infinity", '""', '" "', '"x"', "[]", "{}",
    "[null]", '{"a":{}}', '"\\ud800"', '"\\u0000"', '"\\u202e"', '"' + "x" * 300 + '"', "9" * 25, "9" * 400, DEEP,
    '"2026-13-45T99:00:00Z"', '"https://169.254.169.254/latest"', '"../../etc"', '{"a":1,"a":2}', "9007199254740993",
]  # fmt: skip
"""JSON texts of values that stand where another was meant; some are no JSON that anybody should take."""
HOLE = "\ue000"


def positions(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from positions(inner, (*path, key))


def put(value: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = put(value[key], tuple(rest), change)
    return copy


def without(value: Any, path: tuple[Any, ...]) -> Any:
    *parents, last = path

    def take(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: kept for key, kept in inner.items() if key != last}
        return [kept for position, kept in enumerate(inner) if position != last]

    return put(value, tuple(parents), take)


@st.composite
def damaged(draw: st.DrawFn, good: str) -> str:
    """`good` with one to three things wrong with it."""
    text = good
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from([in_value, in_text, wrapped]))(draw, text)
    return text


def in_value(draw: st.DrawFn, text: str) -> str:
    """One value is another, is gone, or stands twice."""
    try:
        value = json.loads(text)
        path = draw(st.sampled_from(list(positions(value))))
    except (ValueError, RecursionError):
        return in_text(draw, text)
    if path and draw(st.booleans()):
        return json.dumps(without(value, path))
    literal = draw(st.sampled_from(LITERALS))
    return json.dumps(put(value, path, lambda _: HOLE), ensure_ascii=False).replace(f'"{HOLE}"', literal)


def in_text(draw: st.DrawFn, text: str) -> str:
    """A piece of the text is gone, or something stands in it."""
    begin = draw(st.integers(0, len(text)))
    end = draw(st.integers(begin, min(len(text), begin + 20)))
    filling = draw(st.sampled_from(["", "", '"', "{", "}", ",", "\ufeff", "\x00", "\ud800", "é", " ", "\\", "'"]))
    return text[:begin] + filling + text[end:]


def wrapped(draw: st.DrawFn, text: str) -> str:
    """The message inside something else."""
    wraps: list[Callable[[str], str]] = [
        json.dumps,
        lambda inner: f"[{inner}]",
        lambda inner: json.dumps({"Type": "Notification", "TopicArn": "arn", "Message": inner}),
        lambda inner: json.dumps({"detail-type": "x", "source": "y", "detail": inner}),
        lambda inner: json.dumps(["software.amazon.payloadoffloading.PayloadS3Pointer", inner]),
        lambda inner: inner + inner,
    ]
    return draw(st.sampled_from(wraps))(text)
