"""Events of public shops, in their own shapes, become order events of this shop or are refused with what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from orders.messages import OrderEvent, OrderSubmitted
from orders.shops.sources import SOURCES
from stepward.domain.convoy.event import Op
from stepward.domain.convoy.event import OrderEvent as Event
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import Rejected
from stepward.wire.convoy import decode_for_lane
from stepward.wire.order_event import details_of
from tests.lab.convoy.world import ConvoyWorld

FIELD_CASES = Path(__file__).parents[2] / "field_cases"
SHOP_ORDER = {"id": 5500000000001, "currency": "EUR", "updated_at": "2026-01-01T00:00:01-05:00"}


def case(name: str) -> Any:
    return json.loads((FIELD_CASES / f"vendor_{name}_like.json").read_text())


def decoded(content: Any) -> Event:
    event = decode_for_lane(json.dumps(content), schema=OrderEvent, sources=SOURCES)
    assert isinstance(event, Event)
    return event


def world(*, numbered: bool) -> ConvoyWorld:
    rules = LaneRules(sequenced=numbered)
    return ConvoyWorld(rules=rules, sources=SOURCES, schema=OrderEvent, order_schema=OrderSubmitted)


def deliver(shop: ConvoyWorld, *contents: Any, group: str = "5500000000001") -> None:
    for content in contents:
        shop.events.send(json.dumps(content), group=group, deduplication=f"d-{next(shop.names)}")
    shop.run()


def delivery(topic: str, webhook: str, **body: Any) -> dict[str, Any]:
    return {"headers": {"X-Shopify-Topic": topic, "X-Shopify-Webhook-Id": webhook}, "body": {**SHOP_ORDER, **body}}


def message(kind: str, **content: Any) -> dict[str, Any]:
    about = {"notificationType": "Message", "resource": {"typeId": "order", "id": "o-1"}, "sequenceNumber": 2}
    return {**about, "type": kind, **content}


def price(minor: int, digits: int, currency: str = "EUR") -> dict[str, Any]:
    return {"type": "centPrecision", "centAmount": minor, "currencyCode": currency, "fractionDigits": digits}


def line(minor: int = 1230, digits: int = 2) -> dict[str, Any]:
    return {"variant": {"sku": "SKU-1"}, "quantity": 2, "price": {"value": price(minor, digits)}}


def test_numbered_messages_are_ordered_by_their_number() -> None:
    """Field case 22: vendor_commercetools_like; a gap means wait, and a message without payload stops its order."""
    changed, created, left_out = case("commercetools")["messages"]
    created["order"] |= {"lineItems": [line()], "createdAt": "2026-01-01T00:00:00Z"}
    shop = world(numbered=True)

    shop.run(changed, created, left_out)
    gap = (shop.applied("o-1"), shop.lane("o-1").highest)
    shop.run({**changed, "sequenceNumber": 3, "orderState": "Complete"})

    blocked = shop.lane("o-1").blocked
    assert gap == ([1, 2], 4)
    assert shop.applied("o-1") == [1, 2, 3]
    assert blocked is not None
    assert (blocked.position, blocked.reason) == (
        4,
        "payloadNotIncluded: fetch this message from the platform, and replace the event by it",
    )


def test_a_created_message_without_lines_stops_its_order() -> None:
    """Adapters do not guess: the fault names what is missing."""
    _, created, _ = case("commercetools")["messages"]
    shop = world(numbered=True)

    shop.run(created)

    blocked = shop.lane("o-1").blocked
    assert blocked is not None
    assert blocked.reason in {"submittedAt: is missing", "items: is missing"}


@pytest.mark.parametrize(
    ("minor", "digits", "text"), [(1230, 2, "12.30"), (5, 2, "0.05"), (1230, 0, "1230"), (1230, 3, "1.230")]
)
def test_minor_units_become_decimal_text(minor: int, digits: int, text: str) -> None:
    """Field case 78: currencies without decimals, too."""
    event = decoded(message("OrderLineItemAdded", lineItem=line(minor, digits)))
    assert details_of(event)["item"] == {"sku": "SKU-1", "qty": 2, "unitPrice": text}


@pytest.mark.parametrize(
    ("kind", "content", "op", "details"),
    [
        ("OrderStateChanged", {"orderState": "Confirmed"}, Op.ADD, {"status": "Confirmed", "statusOf": "orderState"}),
        ("OrderPaymentStateChanged", {"paymentState": "Paid"}, Op.ADD, {"status": "Paid", "statusOf": "paymentState"}),
        ("OrderStateChanged", {"orderState": "Cancelled"}, Op.DELETE, {"reason": "cancelled at the platform"}),
        ("OrderDeleted", {}, Op.DELETE, {"reason": "deleted at the platform"}),
    ],
)
def test_the_content_of_a_numbered_message_is_stored(kind: str, content: dict[str, Any], op: Op, details: Any) -> None:
    event = decoded(message(kind, **content))
    assert (event.order_id, event.sequence, event.op, event.fault) == ("o-1", 2, op, "")
    assert details_of(event) == details


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (message("ReturnInfoAdded"), "type: this shop does not understand 'ReturnInfoAdded'"),
        (message("OrderCreated"), "order: is missing; fetch the order"),
        (message("OrderStateChanged"), "item: is missing: every add has"),
        (message("OrderLineItemAdded", lineItem=line(1, 9)), "item.unitPrice: is missing"),
        (message("OrderLineItemAdded", lineItem=None), "item: is missing: every add has"),
    ],
)
def test_a_numbered_message_that_is_not_understood_becomes_an_invalid_event(content: Any, fault: str) -> None:
    """C6: to leave it out would be a gap."""
    event = decoded(content)
    assert event.sequence == 2
    assert event.fault.startswith(fault)


def test_a_message_about_something_else_than_an_order_is_refused() -> None:
    with pytest.raises(Rejected, match=r"resource\.typeId: is not order"):
        decoded({**message("PaymentCreated"), "resource": {"typeId": "payment", "id": "p"}})


def test_an_update_before_its_create_is_not_lost_and_a_second_delivery_is_a_duplicate() -> None:
    """Field case 6: vendor_shopify_like."""
    deliveries = case("shopify")["deliveries"]
    updated, created = deliveries[0], deliveries[1]
    created["body"]["currency"] = "EUR"
    shop = world(numbered=False)

    deliver(shop, updated, created, deliveries[deliveries[2]["repeat"]], group="5500000000001")

    assert [kept.event.op for kept in shop.history("5500000000001")] == ["create", "modify"]
    ordered = json.loads(shop.store.orders["5500000000001"].body)
    assert (ordered["currency"], ordered["items"]) == ("EUR", [{"qty": 2, "sku": "SKU-1", "unitPrice": "12.30"}])


def test_a_late_update_is_not_applied_over_a_newer_one() -> None:
    """Field case 6: by the order's updated_at."""
    shop = world(numbered=False)
    item = {"sku": "SKU-1", "quantity": 1, "price": "1.00"}
    deliver(
        shop,
        delivery("orders/create", "w-1", line_items=[item]),
        delivery("orders/paid", "w-3", financial_status="paid", updated_at="2026-01-01T00:00:03-05:00"),
        delivery("orders/updated", "w-2", financial_status="pending", updated_at="2026-01-01T00:00:02-05:00"),
    )

    skipped = [kept.skipped for kept in shop.history("5500000000001")]
    assert skipped == ["", "", "asOf: something newer was applied before"]


def test_a_delivery_that_came_over_an_event_bus_is_the_same() -> None:
    given = delivery("orders/cancelled", "w-9", cancel_reason="customer")
    event = decoded({"metadata": given["headers"], "payload": given["body"]})
    assert event == decoded(given)
    assert (event.op, details_of(event)) == (Op.DELETE, {"reason": "customer"})


def test_the_shops_own_currency_counts_and_two_that_differ_are_refused() -> None:
    """Field case 78: what the customer was shown is in another one."""
    prices = {"shop_money": {"currency_code": "EUR"}, "presentment_money": {"currency_code": "USD"}}
    agreed = decoded(delivery("orders/updated", "w", total_price_set=prices, total_price="1.00"))
    differing = decoded(delivery("orders/updated", "w", total_price_set=prices, currency="USD"))
    assert details_of(agreed)["currency"] == "EUR"
    assert differing.fault.startswith("currency: is 'USD', but the total is in 'EUR'")


def test_a_topic_that_says_nothing_of_an_order_is_refused() -> None:
    with pytest.raises(Rejected, match="X-Shopify-Topic: is 'carts/update'"):
        decoded(delivery("carts/update", "w"))


@pytest.mark.parametrize("name", ["marketplace_notification", "thin_event"])
def test_a_notice_without_lines_is_refused_with_what_to_do(name: str) -> None:
    """Field case 78: the submission does not guess."""
    shop, found = world(numbered=False), case(name)
    bodies = found.get("bodies") or [found["body"]]
    shop.run(*bodies)
    deliver(shop, *bodies, group="shop/7")

    assert not shop.lanes.lanes
    assert len(shop.reasons()) == 2 * len(bodies)
    assert all("fetch the order from its shop, then send a create" in reason for reason in shop.reasons())


@pytest.mark.parametrize("content", [{}, {"orderId": "A", "op": "add"}, {"headers": {}, "body": {}}, {"topic": "x"}])
def test_a_shape_that_no_source_knows_is_left_alone(content: Any) -> None:
    assert [source(content) for source in SOURCES] == [None] * len(SOURCES)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"op": "add"}, "item: is missing: every add has an item, items, an amount or a status"),
        ({"op": "add", "item": {"sku": "S", "qty": 0, "unitPrice": "1"}}, "item.qty: Expected `int` >= 1"),
        ({"op": "add", "amount": 5}, "amount: Expected `str | null`, got `int`"),
        ({"op": "modify", "modifies": 1, "amount": "1,00"}, "amount: Expected `str` matching regex"),
        ({"op": "add", "amount": "-5.00"}, ""),
        ({"op": "delete"}, ""),
    ],
)
def test_an_event_of_this_shop_names_the_field_and_the_reason(content: Any, fault: str) -> None:
    event = decoded({"orderId": "A", "sequence": 2, **content})
    assert event.fault.startswith(fault)
    assert bool(event.fault) == bool(fault)
