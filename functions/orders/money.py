"""Computes money exactly, in whole minor units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Any

from stepward import Permanent

# ISO 4217: every other currency has two decimals.
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
_FOUR_DECIMALS = "CLF UYW"
_DECIMALS = {
    code: decimals
    for codes, decimals in [(_NO_DECIMALS, 0), (_THREE_DECIMALS, 3), (_FOUR_DECIMALS, 4)]
    for code in codes.split()
}
_EXACT = Context(prec=50, Emax=60, Emin=-60, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])


def minor_units(items: Iterable[Mapping[str, Any]], currency: str) -> int:
    """The total of `items` in the smallest unit of `currency`: 1999 for 19.99 EUR, 1999 for 1999 JPY."""
    try:
        total = Decimal(0)
        for item in items:
            price = _EXACT.create_decimal(item["unitPrice"])
            total = _EXACT.add(total, _EXACT.multiply(price, Decimal(item["qty"])))
        minor = _EXACT.scaleb(total, _DECIMALS.get(currency, 2))
        return int(_EXACT.quantize(minor, Decimal(1)))
    except DecimalException as error:
        raise Permanent(f"the total is not a whole number of the smallest unit of {currency}") from error
