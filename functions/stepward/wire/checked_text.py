"""The values that a message may hold: those that JSON, SQS and DynamoDB can all carry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from stepward.domain.errors import Rejected

BODY = "(body)"
MAX_DEPTH = 32
MAX_DIGITS = 38
LEAST_EXPONENT, GREATEST_EXPONENT = -130, 125
_REFUSED_BY_SQS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SURELY_FITS = 10**MAX_DIGITS
_SURE_EXPONENT = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that the parser could not keep; the check finds its path."""

    reason: str


def check(value: object, deepest: int = MAX_DEPTH) -> None:
    """Raise Rejected, with the path of the fault, unless JSON, SQS and DynamoDB can all carry `value`."""
    if not _is_surely_plain(value, deepest):
        _find_fault(value, deepest, "", 1)


def cleaned(text: str, limit: int) -> str:
    """`text` cut to `limit` characters, with each character that SQS refuses replaced."""
    return _REFUSED_BY_SQS.sub("\ufffd", text[:limit])


def _is_surely_plain(value: object, levels: int) -> bool:
    """Nearly every value is, and every message is checked: this fast pass needs neither paths nor patterns."""
    if type(value) is str:
        return _is_carried(value)
    if type(value) is dict:
        return levels > 0 and all(map(_is_carried, value)) and _are_surely_plain(value.values(), levels - 1)
    if type(value) is list:
        return levels > 0 and _are_surely_plain(value, levels - 1)
    if type(value) is int:
        return bool(-_SURELY_FITS < value < _SURELY_FITS)
    if type(value) is Decimal:
        return value.is_finite() and abs(value.adjusted()) <= _SURE_EXPONENT and len(str(value)) <= MAX_DIGITS
    return value is None or type(value) is bool


def _are_surely_plain(values: Iterable[object], levels: int) -> bool:
    for value in values:  # noqa: SIM110 - faster than all() over a generator, and every message comes through here
        if not _is_surely_plain(value, levels):
            return False
    return True


def _is_carried(text: object) -> bool:
    return type(text) is str and (text.isprintable() or not _REFUSED_BY_SQS.search(text))


def _find_fault(value: object, deepest: int, path: str, depth: int) -> None:
    match value:
        case None | bool():
            return
        case str():
            _check_text(value, path)
        case int() | Decimal():
            _check_number(value, path)
        case Mapping() | list() | tuple():
            if depth > deepest:
                raise Rejected(path or BODY, f"is nested deeper than {deepest} levels")
            for inner, name in _members(value, path):
                _find_fault(inner, deepest, name, depth + 1)
        case Fault():
            raise Rejected(path or BODY, value.reason)
        case _:
            kind = type(value).__name__
            raise Rejected(path or BODY, f"is of type {kind}; plain are text, int, Decimal, bool, None, list and dict")


def _members(
    value: Mapping[object, object] | list[object] | tuple[object, ...], path: str
) -> Iterator[tuple[object, str]]:
    if not isinstance(value, Mapping):
        yield from ((inner, f"{path}[{index}]") for index, inner in enumerate(value))
        return
    for key, inner in value.items():
        if not isinstance(key, str):
            raise Rejected(path or BODY, f"has a key of type {type(key).__name__}; keys are text")
        name = _joined(path, key)
        _check_text(key, name)
        yield inner, name


def _joined(path: str, key: str) -> str:
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{json.dumps(key[:64])}]"
    return f"{path}.{key}" if path else key


def _check_text(text: str, path: str) -> None:
    if refused := _REFUSED_BY_SQS.search(text):
        raise Rejected(path or BODY, f"holds the character U+{ord(refused.group()):04X}, which SQS does not carry")


def _check_number(value: int | Decimal, path: str) -> None:
    if isinstance(value, int) and -_SURELY_FITS < value < _SURELY_FITS:
        return
    number = Decimal(value)
    if not number.is_finite():
        raise Rejected(path or BODY, "is not a finite number")
    if not number:
        return
    if len("".join(map(str, number.as_tuple().digits)).rstrip("0")) > MAX_DIGITS:
        raise Rejected(path or BODY, f"has more than {MAX_DIGITS} significant digits; send it as text")
    if not LEAST_EXPONENT <= number.adjusted() <= GREATEST_EXPONENT:
        raise Rejected(path or BODY, f"is beyond the range of 1e{LEAST_EXPONENT} to 9.9e{GREATEST_EXPONENT}")
