"""Design rule 2: the item decides, so a decision reads it as it was last written."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from botocore.awsrequest import AWSPreparedRequest

from stepward.domain.submission import Submission
from tests.contract.worlds.store_worlds import PLAN, DynamoWorld, order_of, submitted, task_of
from tests.integration.dynamodb.faults import intercept, rewrite


@dataclass
class Overheard:
    """What was asked of DynamoDB."""

    asked: list[Any] = field(default_factory=list)

    def __call__(self, request: AWSPreparedRequest) -> None:
        self.asked.append(json.loads(cast("bytes", request.body)))


@pytest.mark.parametrize("with_order", [True, False])
def test_a_task_is_read_as_it_was_last_written_and_its_order_that_never_changes_at_half_the_price(
    moto: DynamoWorld, *, with_order: bool
) -> None:
    submitted(moto.store, "ord-1")
    overheard = Overheard()
    intercept(moto.store, "BatchGetItem", overheard)

    moto.store.load("ord-1", with_order=with_order)

    (asked,) = overheard.asked
    consistent = {table: keys["ConsistentRead"] for table, keys in asked["RequestItems"].items()}
    expected = {moto.store.tasks.Meta.table_name: True}
    assert consistent == (expected | {orders_table(moto): False} if with_order else expected)


def test_an_order_that_the_copy_does_not_have_yet_is_read_as_it_was_last_written(moto: DynamoWorld) -> None:
    """S8: it was put together with its task, so it is there."""
    submitted(moto.store, "ord-1")
    overheard, answers = Overheard(), []
    intercept(moto.store, "BatchGetItem", overheard)

    def lag(parsed: dict[str, Any]) -> None:
        answers.append(parsed)
        if len(answers) == 1:
            parsed["Responses"][orders_table(moto)] = []

    rewrite(moto.store, "BatchGetItem", lag)

    loaded = moto.store.load("ord-1")

    assert loaded is not None
    assert loaded.order
    again = overheard.asked[1]["RequestItems"]
    assert {table: keys["ConsistentRead"] for table, keys in again.items()} == {orders_table(moto): True}


def orders_table(world: DynamoWorld) -> str:
    assert world.store.orders is not None
    return str(world.store.orders.table.Meta.table_name)


def test_what_stands_in_the_way_of_a_submission_is_read_as_it_was_last_written(moto: DynamoWorld) -> None:
    """S8: duplicate or conflict, which an older row must not decide."""
    submitted(moto.store, "ord-1")
    overheard = Overheard()
    intercept(moto.store, "GetItem", overheard)

    assert moto.store.submit(order_of("ord-1"), task_of("ord-1"), PLAN) is Submission.DUPLICATE

    assert overheard.asked
    assert all(asked["ConsistentRead"] for asked in overheard.asked)
