"""What a shop wants for an order is charged to the last digit, or the order stops and both sums are named."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from orders.fulfilment import owed_for
from stepward.domain.convoy.event import Op
from stepward.wire.order_event import details_of, order_of
from tests.unit.orders.test_sources import FIELD_CASES, decoded, deliver, delivery, message, price, world


def cents(amount: str, digits: int = 2, currency: str = "EUR") -> dict[str, Any]:
    return price(int(Decimal(amount).scaleb(digits)), digits, currency)


def precise(minor: int, digits: int, currency: str = "EUR") -> dict[str, Any]:
    return {**price(1, digits, currency), "type": "highPrecision", "preciseAmount": minor}


def line(quantity: int, unit: dict[str, Any], sku: str = "A", **more: Any) -> dict[str, Any]:
    return {"variant": {"sku": sku}, "quantity": quantity, "price": {"value": unit}, **more}


def numbered(total: dict[str, Any], *lines: dict[str, Any], **order: Any) -> dict[str, Any]:
    whole = {"totalPrice": total, "createdAt": "2026-01-01T00:00:00Z", "lineItems": list(lines), **order}
    return {**message("OrderCreated", order=whole), "sequenceNumber": 1}


def webhook(total: str | None, *lines: tuple[int, str], **body: Any) -> dict[str, Any]:
    items = [{"sku": "A", "quantity": quantity, "price": unit} for quantity, unit in lines]
    return delivery("orders/create", "w-1", total_price=total, line_items=items, **body)


TAX_ON_TOP = {"taxedPrice": {"totalNet": cents("30.00"), "totalGross": cents("32.00")}}
TAX_WITHIN = {"taxedPrice": {"totalNet": cents("42.02"), "totalGross": cents("50.00")}}
SHIPPING = {"shippingInfo": {"price": cents("4.90")}}
FREE_SHIPPING = {"shippingInfo": {"price": cents("4.90"), "discountedPrice": {"value": cents("0.00")}}}
SHOP_SHIPPING = {"total_shipping_price_set": {"shop_money": {"amount": "4.90", "currency_code": "EUR"}}}
TWO, ONE = line(2, cents("25.00")), line(1, cents("25.00"))


@pytest.mark.parametrize(
    ("content", "owed"),
    [
        (numbered(cents("5.00"), line(400, precise(125, 4))), 500),
        (numbered(cents("0.04"), line(3, precise(125, 4), totalPrice=cents("0.04"))), 4),
        (numbered(cents("1.00"), line(8, precise(12_500_000, 8))), 100),
        (numbered(cents("1980", 0, "JPY"), line(3, cents("660", 0, "JPY"))), 1980),
        (numbered(cents("3.702", 3, "KWD"), line(3, cents("1.234", 3, "KWD"))), 3702),
        (numbered(cents("40.00"), line(2, cents("25.00"), totalPrice=cents("40.00"))), 4000),
        (numbered(cents("40.00"), TWO, discountOnTotalPrice={"discountedAmount": cents("10.00")}), 4000),
        (numbered(cents("20.00"), {**ONE, "price": {**ONE["price"], "discounted": {"value": cents("20.00")}}}), 2000),
        (numbered(cents("29.90"), ONE, **SHIPPING), 2990),
        (numbered(cents("25.00"), ONE, **FREE_SHIPPING), 2500),
        (numbered(cents("34.80"), ONE, shipping=[SHIPPING, SHIPPING]), 3480),
        (numbered(cents("30.00"), ONE, shippingInfo={"price": cents("5.00")}, **TAX_ON_TOP), 3200),
        (numbered(cents("50.00"), TWO, **TAX_WITHIN), 5000),
        (numbered(cents("28.00"), ONE, customLineItems=[{"money": cents("1.50"), "quantity": 2}]), 2800),
        (webhook("40.00", (2, "25.00"), total_discounts="10.00"), 4000),
        (webhook("29.90", (1, "25.00"), **SHOP_SHIPPING), 2990),
        (webhook("29.90", (1, "25.00"), shipping_lines=[{"price": "4.90"}]), 2990),
        (webhook("32.00", (1, "25.00"), total_tax="2.00", shipping_lines=[{"price": "5.00"}]), 3200),
        (webhook("25.00", (1, "25.00"), total_tax="3.99", taxes_included=True), 2500),
        (webhook("27.50", (1, "25.00"), total_tip_received="2.50"), 2750),
        (webhook("0.00", (2, "25.00"), total_discounts="50.00"), 0),
        (webhook("1980", (3, "660"), currency="JPY"), 1980),
        (webhook("3.702", (3, "1.234"), currency="KWD"), 3702),
        (webhook(None, (1, "25.00")), 2500),
    ],
)
def test_an_order_is_charged_what_its_shop_wants(content: Any, owed: int) -> None:
    """Field cases 19 and 20: high precision, currencies without decimals, discounts, shipping, tax in and on top."""
    event = decoded(content)
    assert (event.op, event.fault) == (Op.CREATE, "")
    assert owed_for(order_of(event)) == owed


@pytest.mark.parametrize(
    ("content", "sums"),
    [
        (numbered(cents("40.00"), TWO), ("40.00 EUR", "50.00 EUR")),
        (numbered(cents("29.90"), ONE, freight=cents("4.90")), ("29.90 EUR", "25.00 EUR")),
        (numbered(cents("32.00"), ONE, **SHIPPING), ("32.00 EUR", "29.90 EUR")),
        (numbered(cents("0.04"), line(400, precise(125, 4))), ("0.04 EUR", "5.00 EUR")),
        (numbered(cents("198", 0, "JPY"), line(3, cents("660", 0, "JPY"))), ("198 JPY", "1980 JPY")),
        (webhook("40.00", (2, "25.00")), ("40.00 EUR", "50.00 EUR")),
        (webhook("29.90", (1, "25.00")), ("29.90 EUR", "25.00 EUR")),
        (webhook("25.01", (1, "25.00")), ("25.01 EUR", "25.00 EUR")),
        (webhook("32.00", (1, "25.00"), total_tax="2.00", taxes_included=True), ("32.00 EUR", "25.00 EUR")),
        (webhook("25.00", (1, "25.00"), current_total_price="20.00"), ("20.00 EUR", "25.00 EUR")),
        ({**webhook("9.99", (2, "5.00")), "headers": delivery("orders/edited", "w")["headers"]}, ("9.99", "10.00 EUR")),
    ],
)
def test_an_order_whose_parts_miss_its_total_stops_with_both_sums(content: Any, sums: tuple[str, str]) -> None:
    """Field case 20: what this adapter does not know is not left out in silence."""
    event = decoded(content)
    assert event.fault.startswith("total: the shop wants ")
    assert all(each in event.fault for each in sums)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (webhook("24,60", (2, "12.30")), "total: is no amount of money"),
        (
            webhook("-1.00", (1, "1.00"), total_discounts="2.00"),
            "adjustments: make the total -100 of",
        ),
        (
            numbered(cents("5.00"), line(1, cents("5.00", currency="USD"))),
            "currency: the total is in EUR, but",
        ),
        (numbered({"currencyCode": "EUR", "centAmount": 1}, TWO), "total: is no amount of money"),
        (webhook("25.00", (1, "25.00"), cancelled_at="2026-01-01T00:00:00Z"), "cancelled_at: the shop has cancelled"),
        (numbered(cents("25.00"), ONE, orderState="Cancelled"), "orderState: the platform has cancelled"),
    ],
)
def test_what_is_no_account_or_no_sale_at_all_stops_the_order(content: Any, fault: str) -> None:
    """Field case 20: nothing is charged, nothing ships."""
    assert decoded(content).fault.startswith(fault)


def test_the_prices_that_an_article_lists_in_other_currencies_do_not_count() -> None:
    listed = {**ONE, "variant": {"sku": "A", "prices": [{"value": cents("27.00", currency="USD")}]}}
    assert decoded(numbered(cents("25.00"), listed)).fault == ""


def test_a_line_that_is_added_later_is_accounted_for() -> None:
    """Field case 20: only what was added counts, and not at its list price."""
    more = message("OrderLineItemAdded", lineItem=line(5, cents("2.00")), addedQuantity=2)
    cheaper = message("OrderLineItemAdded", lineItem=line(5, cents("2.00"), totalPrice=cents("9.00")))
    assert details_of(decoded(more))["item"] == {"sku": "A", "qty": 2, "unitPrice": "2.00"}
    assert decoded(cheaper).fault.startswith(
        "total: the shop wants 9.00 EUR, but what is known of the order comes to 10.0"
    )


def test_an_update_without_a_discount_takes_the_old_one_back() -> None:
    """A modify replaces what it names."""
    shop = world(numbered=False)
    lines = [{"sku": "A", "quantity": 2, "price": "25.00"}]
    updated = delivery(
        "orders/updated", "w-2", line_items=lines, total_price="50.00", updated_at="2026-01-02T00:00:00Z"
    )
    deliver(shop, webhook("40.00", (2, "25.00"), total_discounts="10.00"), updated)

    assert json.loads(shop.store.orders["5500000000001"].body)["adjustments"] == [
        {"reason": "discount", "amount": "-10.00"}
    ]
    assert details_of(shop.history("5500000000001")[1].event)["adjustments"] == []


def sent(name: str) -> Any:
    return json.loads((FIELD_CASES / f"{name}.json").read_text())


def test_what_shops_really_sent_is_charged_to_the_cent_or_stops() -> None:
    """Field cases 19 and 20: money_high_precision.json, shop_totals.json in the shapes of both adapters."""
    assert owed_for(order_of(decoded(sent("money_high_precision")))) == 500
    for case in sent("shop_totals")["cases"]:
        lines = [(each["qty"], each["unitPrice"]) for each in case["lines"]]
        parts = {"total_discounts": case.get("discount"), "total_tax": case.get("tax")}
        shipping = [{"price": case.get("shipping", "0.00")}]
        known = webhook(case["total"], *lines, **parts, shipping_lines=shipping)
        unknown = numbered(cents(case["total"]), *(line(quantity, cents(unit)) for quantity, unit in lines))
        assert owed_for(order_of(decoded(known))) == Decimal(case["total"]) * 100
        assert f"the shop wants {case['total']} EUR" in decoded(unknown).fault


def test_an_order_that_is_paid_and_cancelled_ships_nothing() -> None:
    """Field case 21: payment_added_then_cancelled.json."""
    shop, told = world(numbered=True), sent("payment_added_then_cancelled")["messages"]
    shop.run(numbered(cents("25.00"), ONE), *({**message(each["type"]), **each} for each in told[1:]))

    assert [kept.event.op for kept in shop.history("o-1")] == [Op.CREATE, Op.ADD, Op.DELETE]
    assert shop.lane("o-1").blocked is None


@pytest.mark.parametrize(
    "kind",
    [
        "OrderPaymentAdded",
        "OrderStateTransition",
        "LineItemStateTransition",
        "OrderBillingAddressSet",
        "OrderCustomerEmailSet",
        "OrderCustomFieldAdded",
        "DeliveryAdded",
        "ParcelTrackingDataUpdated",
        "OrderDiscountCodeStateSet",
    ],
)
def test_a_message_that_is_known_and_harmless_takes_its_place(kind: str) -> None:
    """Field case 21: created, payment added, cancelled; nothing ships."""
    shop = world(numbered=True)
    created = numbered(cents("25.00"), ONE)
    notice, cancelled = message(kind), {**message("OrderStateChanged", orderState="Cancelled"), "sequenceNumber": 3}

    shop.run(created, notice, cancelled)

    assert shop.applied("o-1") == [1, 2, 3]
    assert shop.lane("o-1").blocked is None
    assert [kept.event.op for kept in shop.history("o-1")] == [Op.CREATE, Op.ADD, Op.DELETE]


@pytest.mark.parametrize("order", ["cancelled updated updated", "updated cancelled", "updated updated"])
def test_a_cancellation_is_one_event_under_whichever_topics_it_comes(order: str) -> None:
    """Field case 21: a shop sends the update that tells of it as well, in any order; no second one blocks the lane."""
    shop, told = world(numbered=False), "2026-01-02T00:00:0{}Z"
    news = [
        delivery(f"orders/{topic}", f"w-{n}", cancelled_at=told.format(0), updated_at=told.format(n))
        for n, topic in enumerate(order.split())
    ]
    deliver(shop, webhook("25.00", (1, "25.00")), *news)

    assert [kept.event.op for kept in shop.history("5500000000001")] == [Op.CREATE, Op.DELETE]
    assert shop.lane("5500000000001").blocked is None


@pytest.mark.parametrize(
    "kind", ["OrderShippingAddressSet", "OrderLineItemRemoved", "OrderEditApplied", "ReturnInfoAdded"]
)
def test_a_message_that_changes_goods_money_or_destination_is_for_an_operator(kind: str) -> None:
    """Field case 21: only what is harmless passes."""
    assert decoded(message(kind)).fault.startswith(f"type: this shop does not understand '{kind}'")
