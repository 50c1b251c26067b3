"""What another system sends means the same on the orders queue, among the order events and in a ledger."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from orders import app
from orders.messages import OrderEvent
from orders.shops.sources import SOURCES
from stepward import Ignored, Transient
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Cancel
from stepward.wire.convoy import decode_for_lane
from stepward.wire.order import Accepted, accept
from stepward.wire.source import Source
from tests.unit.orders.test_sources import deliver, delivery, message, world
from tests.unit.orders.test_totals_of_shops import ONE, cents, numbered, webhook

ORDER = "5500000000001"


def at_the_door(content: Any, *sources: Source) -> Any:
    return accept(json.dumps(content), app.schemas, sources=sources or SOURCES)


@pytest.mark.parametrize(
    "content",
    [
        webhook("25.00", (1, "25.00"), test=True),
        webhook("25.00", (1, "25.00"), test="true"),
        {**webhook("25.00", (1, "25.00")), "headers": {"X-Shopify-Topic": "orders/create", "X-SHOPIFY-Test": "True"}},
        {"metadata": {"X-Shopify-Topic": "orders/paid", "X-Shopify-Test": "true"}, "payload": {"id": 5500000000001}},
    ],
)
def test_what_is_marked_as_no_real_sale_is_ignored_at_every_door(content: Any) -> None:
    """Field case 20: it is counted, charged to nobody, and no reason to wake anybody."""
    shop = world(numbered=False)
    shop.run(content)
    deliver(shop, content, group=ORDER)

    assert isinstance(at_the_door(content), Ignored)
    assert (shop.lanes.lanes, shop.reasons(), shop.telemetry.count(HistoryKind.IGNORED)) == ({}, [], 2)


@pytest.mark.parametrize("flag", [False, None, "false", 0])
def test_a_real_sale_is_no_test(flag: object) -> None:
    assert isinstance(at_the_door(webhook("25.00", (1, "25.00"), test=flag)), Accepted)


@pytest.mark.parametrize("content", [webhook("25.00", (1, "25.00")), numbered(cents("25.00"), ONE)])
def test_an_order_of_another_shop_is_accepted_on_the_orders_queue(content: Any) -> None:
    """K5: the order is the one that its lane would submit."""
    taken = at_the_door(content)
    assert isinstance(taken, Accepted)
    order = json.loads(taken.order.body)
    assert order["items"] == [{"sku": "A", "qty": 1, "unitPrice": "25.00"}]
    assert {"op", "sequence", "ledgerId", "index", "asOf"}.isdisjoint(order)


DELETED = {**message("OrderDeleted"), "resource": {"typeId": "order", "id": ORDER}}


@pytest.mark.parametrize("content", [delivery("orders/cancelled", "w"), DELETED])
def test_its_cancellation_is_one_there(content: Any) -> None:
    taken = at_the_door(content)
    assert isinstance(taken, Cancel)
    assert taken.order_id == ORDER


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (webhook("40.00", (2, "25.00")), "total"),
        (delivery("orders/updated", "w", total_price="1.00"), "op"),
        (message("OrderStateChanged", orderState="Confirmed"), "op"),
        (message("OrderEditApplied"), "type"),
        (delivery("carts/update", "w"), "X-Shopify-Topic"),
    ],
)
def test_what_is_neither_is_rejected_there_with_the_reason(content: Any, field: str) -> None:
    with pytest.raises(Rejected) as refused:
        at_the_door(content)
    assert refused.value.field == field


def grid(content: Any) -> Mapping[str, Any] | None:
    """A source of events that come in an array of one."""
    match content:
        case [{"eventType": "Order.Placed", "subject": order_id}]:
            lines = [{"sku": "A", "qty": 1, "unitPrice": "1.00"}]
            return {"orderId": order_id, "sequence": 1, "op": "create", "submittedAt": "2026-01-01T00:00:00Z"} | {
                "currency": "EUR",
                "items": lines,
            }
        case "ping":
            return {"orderId": "A", "invalid": "ping: is no event"}
    return None


PLACED = [{"eventType": "Order.Placed", "subject": "A"}]
NOTIFIED = {"Type": "Notification", "TopicArn": "arn:x", "Message": json.dumps(PLACED)}
BUS = {"detail-type": "x", "source": "y", "detail": PLACED}


@pytest.mark.parametrize("content", [PLACED, NOTIFIED, BUS])
def test_a_shape_that_is_not_one_object_can_be_adapted(content: Any) -> None:
    """K5: whatever JSON value it is, plain or in an envelope."""
    event = decode_for_lane(json.dumps(content), "A", schema=OrderEvent, sources=(grid,))
    assert not isinstance(event, Ignored)
    assert (event.order_id, getattr(event, "fault", None)) == ("A", "")
    assert isinstance(at_the_door(content, grid), Accepted)


def test_an_entry_that_is_not_one_object_can_be_adapted() -> None:
    shop = world(numbered=True)
    shop.sources = (grid,)
    shop.run(PLACED, "ping", ["other"])
    assert (shop.applied("A"), shop.reasons()) == ([1], ["entries[2]: is not an object"])
    assert shop.lane("A").blocked is not None


@pytest.mark.parametrize("content", ["[]", "[[]]", "7", "null", '"text"'])
def test_a_shape_that_nobody_knows_is_refused_as_before(content: str) -> None:
    with pytest.raises(Rejected, match=r"expected an object|encoded twice"):
        accept(content, app.schemas, sources=(grid, *SOURCES))


def test_what_a_thin_event_lacks_may_be_fetched_and_the_message_waits_meanwhile() -> None:
    """K5: the shop is out of reach once; nothing is rejected, and nothing is lost."""
    answers = [Transient("the shop does not answer"), grid(PLACED)]

    def thin(content: Any) -> Any:
        if content.keys() != {"orderNumber"}:
            return None
        answer = answers.pop(0)
        if isinstance(answer, Transient):
            raise answer
        return answer

    with pytest.raises(Transient):
        at_the_door({"orderNumber": 7}, thin)
    assert isinstance(at_the_door({"orderNumber": 7}, thin), Accepted)


def test_the_orders_queue_asks_the_sources_of_the_application() -> None:
    """K5: another shop's order gets a task."""
    shop = world(numbered=False)
    shop.assembly().submission().handle(json.dumps(webhook("25.00", (1, "25.00"))))
    assert list(shop.store.orders) == [ORDER]
