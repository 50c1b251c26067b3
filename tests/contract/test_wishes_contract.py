"""What every state store promises about a wish that comes before its order."""

from decimal import Decimal

import pytest

from stepward.domain.errors import Rejected
from stepward.domain.messages import Cancel, SignalGiven
from stepward.domain.submission import Submission
from stepward.domain.wish import MOST_CUSTOMERS, MOST_SIGNALS, Early, Wish
from tests.contract.worlds.store_worlds import (
    NOW,
    PLAN,
    DynamoWorld,
    StoreWorld,
    changed,
    ids_in,
    order_of,
    submitted,
    task_in,
    task_of,
)


def wished(order_id: str, why: str = "bought elsewhere", at: int = NOW) -> Wish:
    return Wish.of(Cancel(order_id, "the submitter", why), at)


def signal(number: int, customer_id: str = "", **data: object) -> SignalGiven:
    return SignalGiven("ord-1", f"approval-{number}", f"s-{number}", data, "", "ann", "submitters", customer_id)


def test_a_wish_waits_in_the_place_of_its_task_until_the_order_comes(stores: StoreWorld) -> None:
    """It is listed as due when it expires, and is never taken for a task."""
    store, (name, other) = stores.store, ids_in(0, 2)
    wish = wished(name, 'said "no" ✗')

    assert store.wish(name) is None
    assert [store.remember(each) for each in (wish, wished(name, "again", NOW + 1))] == [wish, wish]

    assert (store.wish(name), store.load(name), list(store.every(None))) == (wish, None, [])
    assert list(store.due(0, wish.due - 1)) == []
    assert list(store.due(0, wish.due)) == [name]
    assert not store.save(changed(task_of(name)), replaces=task_of(name))
    submitted(store, other)
    assert store.remember(wished(other)) is None


def test_only_a_task_that_meets_its_wish_takes_its_place(stores: StoreWorld) -> None:
    """Order and cancellation become one record in one write; neither can be lost between two."""
    store, wish = stores.store, wished("ord-1")
    store.remember(wish)
    order, met = order_of("ord-1"), changed(task_of("ord-1"), undoing="bought elsewhere")

    assert store.submit(order, task_of("ord-1"), PLAN) == wish
    assert store.submit(order, met, PLAN, meets=wished("ord-1", at=NOW - 1)) == wish
    assert (stores.orders.find("ord-1"), store.load("ord-1")) == (None, None)
    assert store.submit(order, met, PLAN, meets=wish) is Submission.ACCEPTED

    assert (task_in(store), store.wish("ord-1")) == (met, None)
    assert store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.DUPLICATE


def test_a_wish_that_is_dropped_is_due_no_more_and_a_task_is_never_dropped(stores: StoreWorld) -> None:
    store, (name, other) = stores.store, ids_in(0, 2)
    wish, late = wished(name), wished(other)
    store.remember(wish)
    task = submitted(store, other)

    store.drop(wish)
    store.drop(late)

    assert list(store.due(0, wish.due)) == [other]
    assert task_in(store, other) == task
    assert store.submit(order_of(name), task_of(name), PLAN, meets=wish) is Submission.ACCEPTED


def test_no_wish_waits_for_an_order_whose_task_was_deleted(stores: StoreWorld) -> None:
    """Finished tasks may be deleted; their orders stay, and cannot come again."""
    submitted(stores.store, "ord-1")
    if isinstance(stores, DynamoWorld):
        stores.client.delete_item(TableName=stores.tables.tasks, Key={"OrderID": {"S": "ord-1"}})
    else:
        del stores.store.tasks["ord-1"]

    with pytest.raises(Rejected, match="orderId: 'ord-1' has ended, and its task was deleted since"):
        stores.store.remember(wished("ord-1"))


def test_signals_of_all_customers_wait_beside_cancellations(stores: StoreWorld) -> None:
    """I11: the largest wish that there may be is kept as it came, and nobody's takes another one's place."""
    store, wish = stores.store, wished("ord-1")
    store.remember(wish)
    full = {"note": "x" * 1_980, "sum": Decimal("1.50")}
    for customer in range(MOST_CUSTOMERS - 1):
        events: list[Early] = [signal(number, f"c{customer}", **full) for number in range(MOST_SIGNALS)]
        for event in (*events, Cancel("ord-1", "ada", "x", f"c{customer}")):
            before, wish = wish, wish.adding(event, NOW + 1)
            assert store.remember(wish, replaces=before) == wish

    assert (store.wish("ord-1"), store.load("ord-1")) == (wish, None)
    assert store.remember(wished("ord-1"), replaces=wished("ord-1")) == wish, "somebody was faster"
    assert store.submit(order_of("ord-1"), task_of("ord-1"), PLAN, meets=wish) is Submission.ACCEPTED
    assert store.remember(wish, replaces=wish) is None
