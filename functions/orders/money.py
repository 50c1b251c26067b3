"""Computes money exactly, in whole minor units."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow

from stepward import Permanent

# ISO 4217, list one of January 2026: the codes by their number of decimals. A code that it lacks is refused.
_CURRENCIES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF"
    " CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF"
    " IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN"
    " MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS"
    " SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_DECIMALS = {code: decimals for decimals, codes in _CURRENCIES.items() for code in codes.split()}
_EXACT = Context(prec=50, Emax=60, Emin=-60, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])


def minor_units(lines: Iterable[tuple[str, int]], currency: str) -> int:
    """The total of `lines` (price, quantity) in the smallest unit of `currency`: 1999 for 19.99 EUR or for 1999 JPY.

    Raises Permanent for an unknown currency, and for a total that the currency cannot express.
    """
    if currency not in _DECIMALS:
        raise Permanent(f"{currency} is not the code of a currency in ISO 4217")
    try:
        total = Decimal(0)
        for price, quantity in lines:
            total = _EXACT.add(total, _EXACT.multiply(_EXACT.create_decimal(price), Decimal(quantity)))
        minor = _EXACT.scaleb(total, _DECIMALS[currency])
        return int(_EXACT.quantize(minor, Decimal(1)))
    except DecimalException as error:
        raise Permanent(f"the total is not a whole number of the smallest unit of {currency}") from error
