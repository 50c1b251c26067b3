"""What every state store promises about a wish that comes before its order."""

from dataclasses import replace

import pytest

from stepward.domain.errors import Rejected
from stepward.domain.submission import Submission
from stepward.domain.wish import Wish
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


def test_a_wish_waits_in_the_place_of_its_task_until_the_order_comes(stores: StoreWorld) -> None:
    """It is listed as due when it expires, and is never taken for a task."""
    store, (name, other) = stores.store, ids_in(0, 2)
    wish = Wish(name, "the submitter", 'said "no" ✗', NOW)

    assert store.wish(name) is None
    assert [store.remember(each) for each in (wish, Wish(name, "ada", "again", NOW + 1))] == [wish, wish]

    assert (store.wish(name), store.load(name), list(store.every(None))) == (wish, None, [])
    assert list(store.due(0, wish.due - 1)) == []
    assert list(store.due(0, wish.due)) == [name]
    assert not store.save(changed(task_of(name)), replaces=task_of(name))
    submitted(store, other)
    assert store.remember(Wish(other, "ada", "too late", NOW)) is None


def test_only_a_task_that_meets_its_wish_takes_its_place(stores: StoreWorld) -> None:
    """Order and cancellation become one record in one write; neither can be lost between two."""
    store, wish = stores.store, Wish("ord-1", "the submitter", "bought elsewhere", NOW)
    store.remember(wish)
    order, met = order_of("ord-1"), changed(task_of("ord-1"), undoing="bought elsewhere")

    assert store.submit(order, task_of("ord-1"), PLAN) == wish
    assert store.submit(order, met, PLAN, meets=replace(wish, at=NOW - 1)) == wish
    assert (stores.orders.find("ord-1"), store.load("ord-1")) == (None, None)
    assert store.submit(order, met, PLAN, meets=wish) is Submission.ACCEPTED

    assert (task_in(store), store.wish("ord-1")) == (met, None)
    assert store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.DUPLICATE


def test_a_wish_that_is_dropped_is_due_no_more_and_a_task_is_never_dropped(stores: StoreWorld) -> None:
    store, (name, other) = stores.store, ids_in(0, 2)
    wish, late = Wish(name, "ada", "x", NOW), Wish(other, "ada", "x", NOW)
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
        stores.store.remember(Wish("ord-1", "ada", "x", NOW))
