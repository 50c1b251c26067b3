"""O1: orders are found by the indexes, the newest first."""

from collections import Counter

import pytest

from stepward.domain.errors import Rejected
from stepward.operator.filters import Filter
from stepward.operator.scan import scan
from stepward.operator.search import Page, matching, search, unanswered
from tests.unit.cli.lives import SUBMITTED, Life
from tests.unit.operator.deployed import Deployed, failed_orders


def found(deployed: Deployed, text: str = "", **options: object) -> Page:
    return search(deployed.connection, Filter.parse(text, now=deployed.now()), **options)  # type: ignore[arg-type]


def names(page: Page) -> list[str]:
    return [row.order_id for row in page.rows]


@pytest.fixture
def shop() -> Deployed:
    """87 orders that have ended, three that failed, one that is paused and one that runs."""
    deployed = Deployed()
    for number in range(87):
        deployed.put(Life(f"old-{number}").start(0).answer("reserve", 10).answer("charge", 20))
    failed_orders(deployed, 3)
    running = Life("running").start(50_000)
    deployed.put(running, "acme")
    deployed.put(Life("paused").start(100).pause(40_000), "zed")
    return deployed


def test_those_in_flight_and_those_that_wait_are_found_the_newest_first(shop: Deployed) -> None:
    """O1: what has ended is in no index."""
    assert set(names(found(shop))) == {"running", "paused", "ord-00002", "ord-00001", "ord-00000"}
    assert names(found(shop, "state=Error")) == ["ord-00002", "ord-00001", "ord-00000"]
    assert names(found(shop, "reason~asking")) == ["paused"]
    assert names(found(shop, "customer=acme")) == ["running"]
    assert names(found(shop, "id=old-7")) == ["old-7"]


def test_a_row_says_where_the_order_is_and_since_when(shop: Deployed) -> None:
    (row,) = found(shop, "id=ord-00001").rows
    assert (row.state, row.step, row.reason) == ("Error", "charge", "charge: refused with card_declined")
    assert (row.since, row.submitted, row.workflow, row.waits) == (SUBMITTED + 1020, SUBMITTED, "line", True)


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_follow_each_other_without_a_hole_or_a_double(limit: int) -> None:
    """O1: also where many were listed in the same millisecond."""
    deployed = Deployed()
    failed_orders(deployed, 5)
    for number in range(9):
        deployed.put(_failed(f"same-{number}"))
        deployed.put(Life(f"run-{number}").start(0))
    seen, page = list[str](), found(deployed, limit=limit)
    while page.more:
        seen += names(page)
        page = found(deployed, limit=limit, after=page.after)
    assert set(Counter(seen + names(page)).values()) == {1}
    assert len(seen + names(page)) == 23


def _failed(order_id: str) -> Life:
    return Life(order_id).start(0).answer("reserve", 10).answer("charge", 20, "declined")


def test_a_search_says_that_there_may_be_more_once_it_has_read_its_most(shop: Deployed) -> None:
    """O1: a wish that no index answers reads a stated number of orders, and goes on from there."""
    page = found(shop, "id^nothing", most_read=3)
    assert (page.rows, page.more, page.read) == ((), True, 3)
    assert not found(shop, "id^nothing", after=page.after).more


def test_what_no_index_lists_is_refused_with_what_to_add(shop: Deployed) -> None:
    with pytest.raises(Rejected, match="--scan"):
        found(shop, "state=Processed")
    page = scan(shop.connection, Filter.parse("state=processed id^old"), 5)
    assert (len(page.rows), page.more, page.read) == (5, True, 92)
    assert names(scan(shop.connection, Filter.parse("customer=zed"), 5)) == ["paused"]


def test_a_command_for_many_gets_each_order_once(shop: Deployed) -> None:
    """O2: an order that runs and waits for an operator is in both indexes."""
    assert sorted(row.order_id for row in matching(shop.connection, Filter(), [])) == sorted(names(found(shop)))


def test_the_orders_of_a_customer_are_found_to_the_last_where_an_index_lists_them() -> None:
    """O1: also those that have ended; the answer says since when the index is there."""
    deployed = Deployed(since="2026-11-29")
    for number in range(3):
        ended = Life(f"old-{number}").start(number).answer("reserve", 10 + number).answer("charge", 20 + number)
        deployed.put(ended, "acme")
    deployed.put(Life("other").start(0), "zed")
    page = found(deployed, "customer=acme", limit=2)
    assert len(names(page) + names(found(deployed, "customer=acme state=processed", after=page.after))) == 3
    assert "since 2026-11-29" in unanswered(deployed.connection, Filter.parse("customer=acme"))
