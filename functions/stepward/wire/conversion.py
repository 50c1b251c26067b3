"""Values into checked types, and back; the one place that knows the texts of msgspec's errors."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar

import msgspec

from stepward.domain.errors import Rejected
from stepward.wire.checked_text import BODY, check, cleaned

T = TypeVar("T")
_LOCATED = re.compile(r"(?P<complaint>.*) - at (?:`key` in )?`\$\.?(?P<path>[^`]*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_LONGEST_REASON = 300
_learned: set[type] = set()
_learning = Lock()
"""Held while msgspec learns a type: a second thread that meets a half-learned type ends the process (0.22)."""


def converted(value: object, into: type[T]) -> T:
    """`value` as an `into`, without coercion; raises Rejected with the path of the first fault."""
    if into not in _learned:
        _learn(into)
    try:
        return msgspec.convert(value, into)
    except msgspec.ValidationError as error:
        raise _rejected(str(error)) from error
    except UnicodeEncodeError as error:
        check(value)  # names the field, if there is no worse fault before it
        raise Rejected(BODY, "holds a name or a text that is no Unicode text") from error


def decoder(into: type[T]) -> msgspec.json.Decoder[T]:
    """What reads an `into` in a text that was parsed before, in a quarter of the time that its value takes."""
    with _learning:
        return msgspec.json.Decoder(into, float_hook=Decimal)


def _learn(into: type) -> None:
    with _learning, suppress(msgspec.ValidationError):
        msgspec.convert(None, into)
    _learned.add(into)


def form(message: type[Any], tag: str, types: Mapping[str, Any], **config: Any) -> type[msgspec.Struct]:
    """The form of a dataclass in a text, with a `type` of `tag` and camelCase keys; `types` are those of its fields."""
    named = [each for each in dataclasses.fields(message) if each.name in types]
    listed = [(each.name, types[each.name], *_default(each)) for each in named]
    return msgspec.defstruct(message.__name__, listed, rename="camel", tag_field="type", tag=tag, **config)


def _default(field: dataclasses.Field[Any]) -> list[Any]:
    if field.default_factory is not dataclasses.MISSING:
        return [msgspec.field(default_factory=field.default_factory)]
    return [] if field.default is dataclasses.MISSING else [field.default]


def fields(message: object, form: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of `message` under the keys of its `form`, with the form's tag."""
    keys, values = _fields_of(form)
    return dict(zip(keys, (form.__struct_config__.tag, *values(message)), strict=False))


@cache
def _fields_of(form: type[msgspec.Struct]) -> tuple[Sequence[str], Callable[[object], tuple[Any, ...]]]:
    # Of a single name, attrgetter would give the bare value, so it gets one that is left out.
    return ("type", *form.__struct_encode_fields__), attrgetter(*form.__struct_fields__, "__class__")


def _rejected(complaint: str) -> Rejected:
    path = ""
    if located := _LOCATED.fullmatch(complaint):
        complaint, path = located["complaint"], located["path"]
    if missing := _MISSING.fullmatch(complaint):
        return Rejected(f"{path}.{missing['name']}" if path else missing["name"], "is missing")
    return Rejected(path or BODY, cleaned(complaint, _LONGEST_REASON))
