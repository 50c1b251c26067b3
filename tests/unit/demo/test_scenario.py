"""The scenario of the demonstration is repeatable and never leaves a kind of trouble out."""

import json
from pathlib import Path

import pytest

from orders import app
from orders.demo.scenario import KINDS, LATE, cancellation, scenario
from stepward.domain.errors import Rejected
from stepward.domain.messages import Cancel
from stepward.domain.submission import Order
from stepward.wire.order import Accepted, accept

SAMPLES = Path(__file__).parents[3] / "events" / "orders"


def test_the_same_seed_brings_the_same_orders_and_faults() -> None:
    assert scenario(30, 7, SAMPLES) == scenario(30, 7, SAMPLES)
    assert scenario(30, 7, SAMPLES) != scenario(30, 8, SAMPLES)


@pytest.mark.parametrize("orders", [14, 30, 100])
def test_every_kind_of_trouble_comes_up(orders: int) -> None:
    """S22."""
    acts = scenario(orders, 1, SAMPLES)
    assert len({order.order_id for order in acts.orders}) == orders
    assert {order.kind for order in acts.orders} == {*KINDS, LATE}


def test_what_must_be_rejected_is_rejected_and_the_rest_is_accepted() -> None:
    acts = scenario(30, 1, SAMPLES)
    for body in acts.malformed:
        with pytest.raises(Rejected):
            accept(body, app.schemas)
    for order in acts.orders:
        hashes = {_accepted(message).content_hash for message in order.messages}
        assert len(hashes) == 1 + order.kind.conflicting
    sent = [*acts.first_messages, *acts.late_messages, *acts.repeated_messages]
    assert len(sent) == len(acts.malformed) + sum(len(order.messages) for order in acts.orders)


def _accepted(message: str) -> Order:
    assert json.loads(message)
    accepted = accept(message, app.schemas)
    assert isinstance(accepted, Accepted)
    return accepted.order


def test_a_cancellation_is_accepted() -> None:
    assert accept(cancellation("demo-1"), app.schemas) == Cancel("demo-1", "the submitter", "bought elsewhere")


def test_the_submitter_names_its_queue_in_every_order() -> None:
    """S19."""
    queue = "http://127.0.0.1:1/000000000000/replies"
    acts = scenario(20, 1, SAMPLES, queue)
    assert {json.loads(order.messages[0])["replyTo"] for order in acts.orders} == {queue}
    assert "replyTo" not in json.loads(scenario(20, 1, SAMPLES).orders[0].messages[0])
