"""D1: what a deployment reads of the orders in flight before it takes something away."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.cli.deploy_check.in_flight import InFlight, in_flight
from stepward.domain.submission import Order
from stepward.domain.task.record import ProcessState, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from tests.contract.worlds.lane_worlds import DynamoLaneWorld, applied
from tests.contract.worlds.store_worlds import NOW, DynamoWorld, ids_in
from tests.factories import Life, started, undoable

PLAN, OLD = undoable(), replace(undoable(), version=2)
DONE = ("reserve", "charge", "ship")
SHIP = frozenset({("worker", "ship")})


def stored(store: DynamoTaskStore, order_id: str, *done: str, plan: Plan = PLAN) -> Life:
    """An order that is under way, with these steps done."""
    life = started(plan, *done, order_id=order_id)
    first = new_task(order_id, plan, NOW, Timing())
    store.submit(Order(order_id, "{}", "hash"), first, plan)
    assert store.save(life.task, replaces=first)
    return life


def counted(found: InFlight) -> dict[tuple[str, int], int]:
    return {key: count for key, (count, _) in found.needing(SHIP).items()}


def test_orders_are_read_from_every_shard_and_plan_whether_they_run_or_wait_for_a_person(
    moto: DynamoWorld, moto_lanes: DynamoLaneWorld
) -> None:
    """D1: also those that a deployment with more shards left; ended ones need nothing."""
    for shard in (0, 1):
        for order_id in ids_in(shard, 2):
            stored(moto.store, order_id, "reserve")
    many = replace(moto.store, shards=100)
    stored(many, "ord-7001", plan=OLD)
    failed = stored(moto.store, "ord-7002", plan=OLD)
    error = replace(failed.step("reserve"), process_state=ProcessState.ERROR, complete_by=None, error="refused")
    assert moto.store.save(
        replace(
            failed.task, steps={**failed.task.steps, "reserve": error}, due=None, revision=failed.task.revision + 1
        ),
        replaces=failed.task,
    )
    stored(moto.store, "ord-7003", *DONE)

    found = in_flight(moto.store, moto_lanes.lanes)

    assert counted(found) == {("line", 1): 4, ("line", 2): 2}
    assert (found.more, found.unreadable) == (False, "")


def test_an_ended_order_still_needs_its_undo_while_events_wait_in_its_lane(
    moto: DynamoWorld, moto_lanes: DynamoLaneWorld
) -> None:
    """D1: a cancellation may be among them."""
    stored(moto.store, "ord-1", *DONE)
    lane = applied(1, revision=1, due=NOW, gap_since=NOW, highest=3)
    assert moto_lanes.lanes.save(lane, replaces=replace(lane, revision=0))

    found = in_flight(moto.store, moto_lanes.lanes)

    assert found.needing(frozenset({("worker", "refund")})) == {
        ("line", 1): (1, frozenset({("worker", "refund")})),
    }
    assert counted(found) == {}


def test_of_more_orders_than_are_read_it_says_that_there_are_more(
    moto: DynamoWorld, moto_lanes: DynamoLaneWorld
) -> None:
    for number in range(3):
        stored(moto.store, f"ord-{number}")
    assert in_flight(moto.store, moto_lanes.lanes, 2).more
    assert not in_flight(moto.store, moto_lanes.lanes, 3).more


@pytest.mark.parametrize(("attribute", "value"), [("Steps", {"M": {}}), ("Signals", {"M": {}})])
def test_an_order_that_cannot_be_read_is_named_and_the_others_are_counted(
    moto: DynamoWorld, moto_lanes: DynamoLaneWorld, attribute: str, value: Any
) -> None:
    """D1: damaged, or of newer code: it may need anything."""
    for number in range(3):
        stored(moto.store, f"ord-{number}")
    key = {"OrderID": {"S": "ord-1"}}
    item = moto.client.get_item(TableName=moto.tables.tasks, Key=key)["Item"]
    moto.client.put_item(TableName=moto.tables.tasks, Item={**item, attribute: value})

    found = in_flight(moto.store, moto_lanes.lanes)

    assert found.unreadable.startswith("ord-1: ")
    assert counted(found) == {("line", 1): 2}
