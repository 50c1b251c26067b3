"""What an entry costs: the requests to DynamoDB, counted."""

from collections import Counter
from typing import Any

import pytest
from botocore.session import Session

from tests.integration.dynamodb.faults import counted
from tests.integration.functions import convoy
from tests.integration.handlers.deployment import Deployment
from tests.integration.handlers.test_convoy import A, create, entry, work

ORDERS = [f"ord-{number}" for number in range(10)]


@pytest.fixture
def requests(deployment: Deployment) -> Counter[str]:
    """By operation, from the first request of the function on: it has one connection for all tables."""
    assert deployment.env
    take: Any = convoy.handler.worker.take
    return counted(take.__self__.convoy.lanes)


def test_a_create_takes_a_read_a_submission_and_a_write(requests: Counter[str]) -> None:
    work(create("ord-0"))
    requests.clear()

    work(create(A))

    assert requests == {"GetItem": 1, "TransactWriteItems": 1, "PutItem": 1}


def test_the_events_of_one_order_in_one_batch_take_one_read_and_one_write(requests: Counter[str]) -> None:
    """C4, C8."""
    work(create(A))
    requests.clear()

    work(*(entry(A, position) for position in range(2, 12)))

    assert requests - Counter(BatchWriteItem=1) == {"GetItem": 1, "PutItem": 1}


def test_one_event_each_of_many_orders_takes_a_read_and_a_write_each(requests: Counter[str]) -> None:
    work(*map(create, ORDERS))
    requests.clear()

    work(*(entry(order_id, 2) for order_id in ORDERS))

    assert requests == {"GetItem": 10, "PutItem": 10}


@pytest.mark.usefixtures("deployment")
def test_the_threads_of_a_cold_start_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[str] = Counter()
    create_client = Session.create_client

    def count(session: Session, service: Any, *args: Any, **kwargs: Any) -> Any:
        made.update([service])
        return create_client(session, service, *args, **kwargs)

    monkeypatch.setattr(Session, "create_client", count)

    assert work(*map(create, ORDERS)) == []

    assert made == {"dynamodb": 1, "sqs": 1}


def test_a_long_lane_costs_no_more_per_event_than_a_short_one(requests: Counter[str], deployment: Deployment) -> None:
    """Its older events leave it a few at a time, and are never read again."""
    work(create(A))
    requests.clear()

    for position in range(2, 42):
        work(entry(A, position))

    assert deployment.lane(A).last == 41
    moved = requests.pop("BatchWriteItem")
    assert requests == {"GetItem": 40, "PutItem": 40}
    assert moved <= 10


def test_what_comes_again_is_read_and_nothing_is_written(requests: Counter[str]) -> None:
    texts = [create(A), *(entry(A, position) for position in range(2, 6))]
    work(*texts)
    requests.clear()

    work(*texts)

    assert requests == {"GetItem": 1}


def test_what_waits_takes_one_transaction_and_then_one_write(requests: Counter[str], deployment: Deployment) -> None:
    """C5."""
    work(create(A))
    requests.clear()

    work(*(entry(A, position) for position in range(3, 8)))
    assert requests["TransactWriteItems"] == 1
    assert requests["PutItem"] == 0
    requests.clear()

    work(entry(A, 2))

    assert (requests["PutItem"], requests["TransactWriteItems"]) == (1, 0)
    assert requests["Query"] <= 2
    assert deployment.lane(A).last == 7
