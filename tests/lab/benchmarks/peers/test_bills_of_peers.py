from dataclasses import replace
from datetime import date

import pytest

from stepward.cli.cost.estimate import Line
from tests.lab.benchmarks.peers.cost import MONTH, Assumptions, Bill, Price, Pricing, break_even, own_bills, prices

pytestmark = pytest.mark.lab

GIVEN = Assumptions()
OWN = Bill("own", (Line("orders", GIVEN.orders, "", 10.0), Line(MONTH, 1, "", 12.0)), "")


def bills(given: Assumptions = GIVEN) -> dict[str, Bill]:
    return {bill.name: bill for bill in Pricing(given, prices()).bills()}


def quantity(bill: Bill, what: str) -> float:
    return next(line.quantity for line in bill.lines if line.name == what)


def test_every_price_says_where_and_when_it_was_read() -> None:
    for price in prices().values():
        assert price.source.startswith("https://")
        assert date.fromisoformat(price.date) <= date(2100, 1, 1)
        assert price.usd > 0
        assert price.per > 0


def test_a_price_is_for_so_many_units() -> None:
    price = Price(usd=8.0, per=1_000_000, unit="operation", source="https://example.com", date="2026-11-28")

    assert price.of(4_000_000) == pytest.approx(32.0)


def test_every_price_is_used() -> None:
    used = {line.price for bill in bills().values() for line in bill.lines}

    assert used == set(prices())


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        ("Step Functions Standard", 102.60),
        ("Lambda durable functions", 34.84),
        ("Temporal Cloud", 221.16),
        ("Step Functions Express", 7.42),
    ],
)
def test_a_million_orders_of_three_steps_cost_what_the_documentation_says(name: str, usd: float) -> None:
    assert bills()[name].usd == pytest.approx(usd, abs=0.01)


def test_a_bill_is_the_sum_of_its_lines() -> None:
    for bill in bills().values():
        assert bill.usd == pytest.approx(sum(line.usd for line in bill.lines))


def test_the_time_of_the_steps_own_work_can_be_left_out() -> None:
    longer = bills(replace(GIVEN, step_ms=200))

    for name in ("Step Functions Standard", "Lambda durable functions"):
        assert longer[name].usd > bills()[name].usd
        assert longer[name].usd_of_engine == pytest.approx(bills()[name].usd_of_engine)


def test_what_runs_a_step_is_billed_for_each_step_and_once_for_the_start() -> None:
    ten = bills(replace(GIVEN, steps=10, orders=1))

    assert quantity(ten["Step Functions Standard"], "state transitions") == 11
    assert quantity(ten["Lambda durable functions"], "durable operations") == 11
    assert quantity(ten["Temporal Cloud"], "actions") == 11


def test_express_is_billed_by_the_tenth_of_a_second_begun() -> None:
    assert replace(GIVEN, steps=1, step_ms=61, between_ms=20).express_ms == 200


def test_express_is_said_not_to_run_what_outlasts_five_minutes() -> None:
    long = bills(replace(GIVEN, step_ms=101_000))

    assert "CANNOT" in long["Step Functions Express"].note
    assert "CANNOT" not in bills()["Step Functions Express"].note


def test_twice_the_orders_cost_twice_as_much() -> None:
    twice = bills(replace(GIVEN, orders=2 * GIVEN.orders))

    for name, bill in bills().items():
        assert twice[name].usd == pytest.approx(2 * bill.usd)


@pytest.mark.parametrize(
    ("usd", "orders"),
    [
        pytest.param(34.0, 500_000, id="dearer: what is saved pays the month"),
        pytest.param(9.0, None, id="cheaper by the order: never"),
    ],
)
def test_a_peer_is_undercut_from_some_orders_a_month(usd: float, orders: int | None) -> None:
    peer = Bill("peer", (Line("all", GIVEN.orders, "", usd),), "")

    assert break_even(OWN, peer, GIVEN.orders) == orders


def test_the_own_bill_counts_a_month_once_whatever_the_orders() -> None:
    once, twice = (own_bills(Assumptions(orders=orders))[0] for orders in (GIVEN.orders, 2 * GIVEN.orders))

    assert {line.usd for bill in (once, twice) for line in bill.lines if line.name == MONTH} == {
        line.usd for line in once.lines if line.name == MONTH
    }
    assert twice.usd < 2 * once.usd


def test_the_time_of_the_steps_own_work_stands_by_itself_in_the_own_bill() -> None:
    short, long = (own_bills(replace(GIVEN, step_ms=ms))[1] for ms in (100, 300))

    assert long.usd > short.usd
    assert long.usd_of_engine == pytest.approx(short.usd_of_engine)
    # Three steps, a message at a time: each waits for its service in a run of its own.
    assert short.usd - short.usd_of_engine == pytest.approx(3 * 0.1 * 0.5 * 0.0000133334 * GIVEN.orders)
