"""What can never be charged is refused where it arrives, before anything is reserved for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from orders import app
from orders.messages import OrderEvent
from stepward.wire.order import Accepted, accept
from stepward.wire.order_event import event_of
from tests.unit.wire.refusals import refused

ORDER: dict[str, Any] = json.loads((Path(__file__).parents[3] / "events" / "orders" / "order.json").read_text())
WRONG = [
    ("KWD", "1.2345", 1, "not a whole number of the smallest unit of KWD"),
    ("JPY", "1.5", 1, "not a whole number of the smallest unit of JPY"),
    ("EUR", "0.005", 3, "not a whole number of the smallest unit of EUR"),
    ("XYZ", "1.00", 1, "XYZ is not the code of a currency in ISO 4217"),
    ("EUR", "999999999999.99", 1_000_000, "the limit is 9,223,372,036,854,775,807"),
]
RIGHT = [("KWD", "1.234", 1), ("JPY", "1500", 2), ("EUR", "1.005", 200), ("CLF", "1.2345", 1), ("EUR", "0", 1)]


def priced(price: str, quantity: int) -> dict[str, Any]:
    return {"sku": "SKU-1", "qty": quantity, "unitPrice": price}


@pytest.mark.parametrize(("currency", "price", "quantity", "reason"), WRONG)
def test_an_order_that_can_never_be_charged_is_rejected(currency: str, price: str, quantity: int, reason: str) -> None:
    text = json.dumps(ORDER | {"currency": currency, "items": [priced(price, quantity)]})

    fault = refused(accept, text, app.schemas)

    assert (fault.field, reason in fault.reason) == ("items", True)


@pytest.mark.parametrize(("currency", "price", "quantity"), RIGHT)
def test_an_order_that_can_be_charged_is_accepted(currency: str, price: str, quantity: int) -> None:
    text = json.dumps(ORDER | {"currency": currency, "items": [priced(price, quantity)]})

    assert isinstance(accept(text, app.schemas), Accepted)


@pytest.mark.parametrize(
    ("subject", "currency", "price", "quantity", "reason"),
    [
        *(("amount", *wrong) for wrong in WRONG[:4]),
        *((subject, *wrong) for subject in ("item", "items") for wrong in WRONG),
    ],
)
def test_an_event_that_can_never_be_charged_has_a_fault(
    subject: str, currency: str, price: str, quantity: int, reason: str
) -> None:
    """An event with a fault blocks its order's lane, whichever door it came by."""
    one = priced(price, quantity)
    subjects: dict[str, Any] = {"amount": price, "item": one, "items": [one]}
    event = {"orderId": "A", "op": "add", "sequence": 2, "currency": currency, subject: subjects[subject]}

    fault = event_of(event, OrderEvent).fault

    assert reason in fault
