"""The example's second workflow, on the engine in memory: W1 to W4."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orders import app
from orders.fulfilment import fulfilment
from orders.returns import close_return, pay_back, returns
from stepward.testing import Engine, Order
from stepward.testing.faults.loop import START

DAY = 86_400


def instant(days: int) -> str:
    """So many days after the engine's clock begins."""
    return (datetime.fromtimestamp(START / 1000, UTC) + timedelta(days=days)).isoformat()


RETURN = {
    "orderId": "1042",
    "purchase": "1042",
    "currency": "EUR",
    "items": [{"sku": "A", "qty": 1, "unitPrice": "19.99"}],
    "coolingOffEnds": instant(3),
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(app) as engine:
        for operation in {each for workflow in app.workflows for step in workflow.steps for each in step.operations}:
            engine.service(operation).returns({"reference": operation.name})
        yield engine


@pytest.fixture
def sent(engine: Engine) -> Order:
    """A return whose label the customer has."""
    order = engine.submit(returns, RETURN)
    engine.clock.move(60)
    assert order.effects == ["send_label"]
    return order


def test_goods_that_are_as_new_are_restocked_and_paid_back_when_the_cooling_off_is_over(
    engine: Engine, sent: Order
) -> None:
    """W2, W3, W4: nobody has to approve."""
    sent.signal("goods", {"condition": "as_new"})
    engine.run()
    assert sent.effects == ["send_label", "restock", "pay_back", "close_return"]
    assert sent.step("approval").process_state == "Skipped"
    assert (sent.step(pay_back).started_at or 0) >= START + 3 * DAY * 1000
    assert sent.state == "Processed"
    engine.verdict()


def test_only_an_operator_approves_goods_that_are_not_as_new(engine: Engine, sent: Order) -> None:
    """W2: by the queue that the signal comes through."""
    sent.signal("goods", {"condition": "used"})
    sent.signal("approval", {"by": "mallory"})
    engine.clock.move(4 * 3600)
    assert [reject.reason for reject in engine.rejects] == ["signal 'approval' is accepted from operators only"]
    assert sent.effects == ["send_label"]
    sent.signal("approval", {"by": "ann", "percent": 40}, by="operators")
    engine.run()
    assert sent.effects == ["send_label", "pay_back", "close_return"]
    (paid,) = engine.service(pay_back).calls
    assert paid.results["approval"] == {"by": "ann", "percent": 40}
    engine.verdict()


@pytest.mark.parametrize("condition", ["used", "damaged"])
def test_a_return_that_is_refused_is_undone(engine: Engine, sent: Order, condition: str) -> None:
    sent.signal("goods", {"condition": condition})
    engine.clock.move(60)
    sent.signal("approval", refused="worn for a month", by="operators")
    engine.run()
    assert sent.state == "Undone"
    assert sent.effects == ["send_label", "send_label/undo"]


def test_operators_hear_of_goods_that_do_not_come_and_they_may_still_come(engine: Engine, sent: Order) -> None:
    """W2: two reminders, then an alert; I11: the signal counts as long as the step has not ended."""
    engine.clock.move(45 * DAY)
    assert [alert.reason for alert in engine.alerts] == [
        "nobody gave the signal 'goods' yet",
        "nobody gave the signal 'goods' yet",
        "nobody gave the signal 'goods'",
    ]
    assert sent.state == "Error"
    sent.signal("goods", {"condition": "as_new"})
    engine.run()
    assert sent.state == "Processed"


def test_a_customer_who_cancels_in_the_cooling_off_gets_the_goods_again(engine: Engine, sent: Order) -> None:
    sent.signal("goods", {"condition": "as_new"})
    engine.clock.move(DAY)
    sent.cancel()
    engine.run()
    assert sent.state == "Undone"
    assert sent.effects == ["send_label", "restock", "restock/undo", "send_label/undo"]


def test_who_has_the_money_does_not_get_the_goods_as_well(engine: Engine, sent: Order) -> None:
    """S17: nothing is undone once the payment has begun."""
    engine.service(close_return).fails(times=None)
    sent.signal("goods", {"condition": "as_new"})
    engine.run(lambda: "pay_back" in sent.effects)
    sent.cancel()
    engine.clock.move(DAY)
    assert sent.effects == ["send_label", "restock", "pay_back"]
    assert sent.state == "Error"


def test_an_order_and_its_return_may_have_one_id(engine: Engine, sent: Order) -> None:
    """W1: the type of the message names the workflow."""
    order = engine.submit(fulfilment, {key: RETURN[key] for key in ("orderId", "currency", "items")})
    sent.cancel()
    engine.run()
    assert (order.order_id, order.state) == ("1042", "Processed")
    assert (sent.order_id, sent.state) == ("returns~~1042", "Undone")


@pytest.mark.parametrize(
    ("fault", "field", "reason"),
    [
        ({"coolingOffEnds": "2026-12-24"}, "coolingOffEnds", "Invalid RFC3339 encoded datetime"),
        ({"coolingOffEnds": instant(367)}, "coolingOffEnds", "is over 366 days after submittedAt"),
        ({"purchase": ""}, "purchase", "Expected `str` matching regex"),
        ({"currency": "XXX"}, "items", "XXX is not the code of a currency"),
        ({"adjustments": [{"reason": "fee", "amount": "-20"}]}, "adjustments", "it is at least 0"),
    ],
)
def test_a_return_that_cannot_end_well_is_rejected(
    engine: Engine, fault: dict[str, Any], field: str, reason: str
) -> None:
    """S9: a zoned time not too far off, the order that it belongs to, and what can be paid back."""
    engine.submit(returns, RETURN | fault)
    engine.run(lambda: bool(engine.rejects))
    (reject,) = engine.rejects
    assert reject.field == field
    assert reason in reject.reason
