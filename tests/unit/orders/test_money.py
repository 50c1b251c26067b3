import pytest

from orders.money import minor_units
from stepward.domain.errors import Permanent


def item(price: str, qty: int = 1) -> tuple[str, int]:
    return price, qty


@pytest.mark.parametrize(
    ("currency", "price", "expected"),
    [("EUR", "19.99", 1999), ("JPY", "1999", 1999), ("KWD", "1.234", 1234), ("CLF", "1.2345", 12345), ("EUR", "0", 0)],
)
def test_an_amount_is_in_the_smallest_unit_of_its_currency(currency: str, price: str, expected: int) -> None:
    assert minor_units([item(price)], currency) == expected


def test_prices_that_binary_numbers_cannot_hold_add_up_exactly() -> None:
    assert minor_units([item("0.10", 3), item("0.20"), item("1.005", 200)], "EUR") == 30 + 20 + 20_100


def test_a_total_larger_than_any_float_holds_is_exact() -> None:
    assert minor_units([item("9007199254740993.01", 1_000_000)], "EUR") == 900719925474099301 * 1_000_000


@pytest.mark.parametrize(("currency", "price"), [("EUR", "0.005"), ("JPY", "0.5"), ("EUR", "1e99"), ("EUR", "abc")])
def test_a_total_that_no_coin_can_pay_is_refused_for_good(currency: str, price: str) -> None:
    with pytest.raises(Permanent, match=f"smallest unit of {currency}"):
        minor_units([item(price)], currency)
