from dataclasses import replace

import pytest

from tests.lab.benchmarks.peers.cost import Assumptions, Bill, Line
from tests.lab.benchmarks.peers.own import MONTH, break_even, own_bills

pytestmark = pytest.mark.lab

ORDERS = 1_000_000
OWN = Bill("own", (Line("orders", "", ORDERS, 10.0), Line(MONTH, "", 1, 12.0)), "")


def test_a_dearer_peer_is_overtaken_when_what_is_saved_pays_the_month() -> None:
    assert break_even(OWN, Bill("peer", (Line("all", "", ORDERS, 34.0),), ""), ORDERS) == 500_000


def test_a_peer_that_is_cheaper_by_the_order_is_never_overtaken() -> None:
    assert break_even(OWN, Bill("peer", (Line("all", "", ORDERS, 9.0),), ""), ORDERS) is None


def test_the_own_bill_counts_a_month_once_whatever_the_orders() -> None:
    once, twice = (own_bills(Assumptions(orders=orders))[0] for orders in (ORDERS, 2 * ORDERS))

    assert {line.usd for bill in (once, twice) for line in bill.lines if line.what == MONTH} == {
        line.usd for line in once.lines if line.what == MONTH
    }
    assert twice.usd < 2 * once.usd


def test_the_time_of_the_steps_own_work_stands_by_itself_in_the_own_bill() -> None:
    given = Assumptions()
    short, long = (own_bills(replace(given, step_ms=ms))[1] for ms in (100, 300))

    assert long.usd > short.usd
    assert long.usd_of_engine == pytest.approx(short.usd_of_engine)
    # Three steps, a message at a time: each waits for its service in a run of its own.
    assert short.usd - short.usd_of_engine == pytest.approx(3 * 0.1 * 0.5 * 0.0000133334 * ORDERS)
