"""JSON without the freedoms that lose data: one reader and one canonical form.

Integers are read as `int`, numbers with a point or an exponent as `Decimal`; nothing is ever a float.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from stepward.domain.errors import Rejected
from stepward.wire.checked_text import BODY, MAX_DEPTH, MAX_DIGITS, Fault, check

# The canonical form of every number that fits DynamoDB is shorter.
_LONGEST_NUMBER = 200
_BOM = "\ufeff"
_BLANK = " \t\r\n"


def parse(text: str | bytes, deepest: int = MAX_DEPTH) -> object:
    """The value of a JSON text; raises Rejected with the path of a value that cannot be kept exactly."""
    decoded = _decoded(text)
    if (plain := _read_at_once(decoded, deepest)) is not _NOT_PLAIN:
        return plain
    value = _load(decoded)
    check(value, deepest)
    return value


def parse_unchecked(text: str | bytes) -> object:
    """The same without the check: it may hold Faults, and `canonical` refuses each part that does."""
    return _load(_decoded(text))


def canonical(value: object, deepest: int = MAX_DEPTH) -> str:
    """The one ASCII text of a value; raises Rejected for what JSON cannot hold.

    Keys are sorted by code point. Numbers are written by value, in full and without needless zeros:
    1.50, 15e-1 and 1.5 are one text, and so are 1.0 and 1.
    """
    if text := _written_at_once(value, deepest):
        return text
    check(value, deepest)
    try:
        return _ENCODER.encode(value)
    except TypeError:  # it holds a Decimal, whose digits must not change, or a Mapping that is no dict
        return _written(value)


def shown(value: object) -> str:
    """The text of any value that was read, for people: it has, in place of what cannot be kept, the reason."""
    try:
        return _written(value)
    except RecursionError:
        return json.dumps("(is nested too deep to be shown)")


def as_read(value: Any) -> Any:
    """What `parse` would read in the canonical text of a value, such as 1 for 1.0."""
    match value:
        case Decimal():
            digits = _number(value)
            return Decimal(digits) if "." in digits else int(digits)
        case Mapping():
            return {key: as_read(inner) for key, inner in value.items()}
        case list() | tuple():
            return [as_read(inner) for inner in value]
        case _:
            return value


def _decoded(text: str | bytes) -> str:
    try:
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise Rejected(BODY, f"is not UTF-8 text (at byte {error.start})") from error
    if decoded.startswith(_BOM):
        raise Rejected(BODY, "begins with a byte order mark; send the JSON without it")
    if not decoded.strip(_BLANK):
        raise Rejected(BODY, "is empty")
    return decoded


def _load(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Rejected(BODY, f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise Rejected(BODY, "is nested too deep to be read") from error


def _read_at_once(text: str, deepest: int) -> object:
    """The value of a text as our own code writes it, which nearly all are; _NOT_PLAIN leaves it to the strict reader.

    What msgspec reads and writes again as it was had no key twice, no blank between, and no number in another form.
    """
    try:
        raw = text.encode()
        value = _READER.decode(raw)
        if _WRITER.encode(value) == raw and _is_plain(raw, deepest) and (text.isascii() or text.isprintable()):
            return value
    except _FAULTS:
        pass
    return _NOT_PLAIN


def _written_at_once(value: object, deepest: int) -> str:
    """The canonical text of a value without Decimals and rare characters; "" leaves it to the strict writer.

    What msgspec writes and reads again as it was held nothing that JSON has not.
    """
    try:
        raw = _SORTER.encode(value)
        if _WHOLE_READER.decode(raw) == value and _is_plain(raw, deepest) and raw.isascii() and b"\x7f" not in raw:
            return raw.decode()
    except _FAULTS:
        pass
    return ""


def _is_plain(raw: bytes, deepest: int) -> bool:
    """Whether the check would surely find nothing in a text, apart from characters that stand in it as themselves."""
    flat = raw.translate(_FLAT)
    return b"\\" not in raw and flat.count(b"{") <= deepest and _LONG not in flat


def _short(digits: str) -> Decimal:
    """A number with a point; raises ValueError for one that needs a closer look."""
    if len(digits) > MAX_DIGITS or "e" in digits.lower():
        raise ValueError
    return Decimal(digits)


def _no_float(digits: str) -> Decimal:
    raise ValueError(digits)


_NOT_PLAIN = object()
_FAULTS = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
_FLAT = bytes.maketrans(b"123456789[", b"000000000{")
_LONG = b"0" * (MAX_DIGITS + 1)
_READER = msgspec.json.Decoder(float_hook=_short)
_WHOLE_READER = msgspec.json.Decoder(float_hook=_no_float)
_WRITER = msgspec.json.Encoder(decimal_format="number")
_SORTER = msgspec.json.Encoder(order="sorted")


def _integer(digits: str) -> int | Fault:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else Fault(f"is a number of {len(digits)} characters")


def _decimal(digits: str) -> Decimal | Fault:
    if len(digits) > _LONGEST_NUMBER:
        return Fault(f"is a number of {len(digits)} characters")
    try:
        return Decimal(digits)
    except InvalidOperation:
        return Fault("is a number beyond any range")


def _constant(name: str) -> Fault:
    return Fault(f"is {name}, which is not a JSON number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in pairs:
        members[key] = Fault("appears more than once in its object") if key in members else value
    return members


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=_object
)

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)


def _written(value: object) -> str:
    match value:
        case int() | Decimal() if not isinstance(value, bool):
            return _number(value)
        case Mapping():
            return "{" + ",".join(f"{json.dumps(key)}:{_written(value[key])}" for key in sorted(value)) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_written, value)) + "]"
        case Fault():
            return json.dumps(f"({value.reason})")
        case _:
            return json.dumps(value)


def _number(value: int | Decimal) -> str:
    if not value:
        return "0"
    digits = format(value, "d" if isinstance(value, int) else "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
