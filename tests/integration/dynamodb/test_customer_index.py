"""O1: the index of customers lists a new order once, at one write unit, and only where a deployment wants it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest
from moto import mock_aws

from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.cli.cost.billing import Bill
from stepward.local.access import REGION
from stepward.operator.indexes import DynamoSearches
from stepward.operator.search import LATEST
from stepward.testing.aws.tables import create_table
from stepward.wiring.tasks import task_store
from tests.contract.worlds.store_worlds import NOW, PLAN, order_of, task_of

BODY = '{"customerId":"acme","total":"12.30"}'


@pytest.fixture
def store() -> Iterator[DynamoTaskStore]:
    with mock_aws():
        client, name = boto3.client("dynamodb", region_name=REGION), f"t{uuid.uuid4().hex[:8]}"
        for kind in ("orders", "tasks"):
            create_table(client, kind, f"{name}-{kind}", by_customer=True)
        yield task_store(Access(REGION), orders=f"{name}-orders", tasks=f"{name}-tasks", shards=2)


def indexed(store: DynamoTaskStore) -> DynamoTaskStore:
    assert store.orders
    return replace(store, orders=replace(store.orders, by_customer=True))


def test_orders_are_listed_by_customer_the_newest_first_if_the_setting_is_on(store: DynamoTaskStore) -> None:
    """Orders that were submitted before are not in the index, and are as good as before."""
    store.submit(order_of("before", BODY), task_of("before", NOW - 1), PLAN)
    for number in range(5):
        indexed(store).submit(order_of(f"ord-{number}", BODY), task_of(f"ord-{number}", NOW + number), PLAN)
    indexed(store).submit(order_of("nobody"), task_of("nobody"), PLAN)

    searches = DynamoSearches(store)
    assert list(searches.of_customer("acme", LATEST)) == [(NOW + number, f"ord-{number}") for number in (4, 3, 2, 1, 0)]
    assert [key for _, key in searches.of_customer("acme", NOW + 1)] == ["ord-1", "ord-0"]
    assert searches.customers(["ord-1", "before", "nobody"]) == {"ord-1": "acme", "before": "acme"}
    assert store.load("before")


@pytest.mark.parametrize(("on", "units"), [(False, 2 * 2 + 1), (True, 2 * 2 + 2)])
def test_the_index_costs_one_write_unit_at_submission(store: DynamoTaskStore, units: int, *, on: bool) -> None:
    """O1: ten units an order without it, eleven with it."""
    store = indexed(store) if on else store
    store.submit(order_of("first", BODY), task_of("first"), PLAN)
    bill, send = Bill(), store.connection.dispatch

    def billed(operation: str, request: dict[str, object]) -> dict[str, object]:
        answer: dict[str, object] = send(operation, request)
        bill.add(operation, request, answer)
        return answer

    object.__setattr__(store.connection, "dispatch", billed)
    store.submit(order_of("ord-1", BODY), task_of("ord-1"), PLAN)
    assert bill.totals["write units"] == units
