"""What the constants of conditions may be, and which values from JSON compare with which of them."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import Enum, StrEnum
from math import isfinite
from typing import Any, Final

from stepward.domain.errors import NotUnderstood

Constant = str | int | bool | Decimal
Frozen = tuple[Any, ...]
"""A ref or a condition as plain data: what its JSON list holds, in tuples."""

MOST_DIGITS = 40
LONGEST_CONSTANT = 200
_TOO_LARGE = 10**MOST_DIGITS
_DECIMAL_TEXT = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?")


class Missing(Enum):
    """The type of MISSING, which is no value, not even null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class Unread(Enum):
    """The type of UNREAD, a result that exists, but is in a row that was not read: never taken for missing."""

    UNREAD = "unread"


UNREAD: Final = Unread.UNREAD


class ValueKind(StrEnum):
    """What a value is compared as."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"


def kind_of(constant: Constant) -> ValueKind:
    """What a value must be to be compared with `constant`."""
    match constant:
        case bool():
            return ValueKind.BOOLEAN
        case str():
            return ValueKind.TEXT
        case _:
            return ValueKind.NUMBER


def as_kind(value: object, kind: ValueKind) -> Constant | Missing:
    """`value` as it is compared; MISSING if it is not of this kind. Decimal text is a number, too."""
    match kind:
        case ValueKind.TEXT:
            return value if isinstance(value, str) else MISSING
        case ValueKind.BOOLEAN:
            return value if isinstance(value, bool) else MISSING
        case ValueKind.NUMBER:
            return MISSING if isinstance(value, bool) else _as_number(value)


def _as_number(value: object) -> Constant | Missing:
    match value:
        case int():
            return value
        case str() if _DECIMAL_TEXT.fullmatch(value):
            return Decimal(value)
        case Decimal() if value.is_finite():
            return value
        case float() if isfinite(value):
            return Decimal(repr(value))
        case _:
            return MISSING


def fault_of(constant: object) -> str:
    """Why a ref or a condition cannot hold this constant; "" if it can."""
    match constant:
        case bool():
            return ""
        case str():
            return f"a text of more than {LONGEST_CONSTANT} characters" if len(constant) > LONGEST_CONSTANT else ""
        case int() | Decimal():
            short = (
                _DECIMAL_TEXT.fullmatch(str(constant)) if isinstance(constant, Decimal) else abs(constant) < _TOO_LARGE
            )
            return "" if short else f"a number that is not finite, or has an exponent or over {MOST_DIGITS} digits"
        case float():
            return f'the float {constant}, which is not exact; write Decimal("{constant}") or a whole number'
        case None:
            return "None; ask with .exists() whether there is a value"
        case _:
            return f"{constant!r:.80}, which is no text, whole number, Decimal or bool"


def frozen_constant(constant: Constant) -> Any:
    """The constant as JSON can hold it: a Decimal is `["decimal", "12.50"]`."""
    return ("decimal", str(constant)) if isinstance(constant, Decimal) else constant


def thawed(frozen: Any) -> Constant:
    """The constant that `frozen_constant` froze."""
    return frozen if isinstance(frozen, str | int) else Decimal(frozen[1])


def read_constant(raw: object) -> Any:
    """The frozen constant in a plan's JSON; raises NotUnderstood for one that only newer code can have written."""
    match raw:
        case ["decimal", str(digits)] if _DECIMAL_TEXT.fullmatch(digits):
            return ("decimal", digits)
        case str() | int() if not fault_of(raw):
            return raw
        case _:
            raise NotUnderstood(f"a constant {raw!r:.80}")
