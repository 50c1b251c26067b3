"""What every implementation of `ports.LaneQueue` promises."""

import uuid
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from mypy_boto3_sqs import SQSClient

from stepward.adapters.sqs.lane_queue import SqsLaneQueue
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.ports import LaneQueue
from stepward.testing.memory.lanes import MemoryLaneQueue
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.poller import Source
from stepward.testing.sqs.source import SqsSource
from tests.contract.worlds.access import Access
from tests.emptied import emptied


@dataclass(frozen=True)
class LaneQueueWorld:
    queue: LaneQueue
    source: Source

    def arrived(self) -> list[Received]:
        return emptied(self.source)


@pytest.fixture
def world(access: Access | None) -> LaneQueueWorld:
    if access is not None:
        return _on_sqs(boto3.client("sqs", **access))
    queue = MemoryFifoQueue(name="order-events.fifo", clock=lambda: 1_000_000, deduplication_per_group=True)
    return LaneQueueWorld(MemoryLaneQueue(queue), queue)


def _on_sqs(client: SQSClient) -> LaneQueueWorld:
    fast: Any = {"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}
    name = f"lanes-{uuid.uuid4().hex[:8]}.fifo"
    url = client.create_queue(QueueName=name, Attributes={"FifoQueue": "true"} | fast)["QueueUrl"]
    return LaneQueueWorld(SqsLaneQueue(client, url), SqsSource.at(client, url))


def message(order_id: str, number: int, ledger_id: str = "ledger-1") -> LaneMessage:
    return LaneMessage(order_id, f"{ledger_id}/{number}", f"{order_id} {number}")


def bodies_of(order_id: str, arrived: list[Received]) -> list[str]:
    return [message.body for message in arrived if message.body.split()[0] == order_id]


def test_each_order_is_a_group_of_its_own_in_its_order(world: LaneQueueWorld) -> None:
    """C1, C3."""
    orders = [f"ord-{number}" for number in range(7)]
    sent = [message(orders[number * number % 7], number) for number in range(60)]
    assert {one.order_id for one in sent} < set(orders)

    world.queue.send(sent)

    arrived = world.arrived()
    assert len(arrived) == len(sent)
    for order_id in orders:
        assert bodies_of(order_id, arrived) == [one.body for one in sent if one.order_id == order_id]
    assert {one.attributes["MessageGroupId"] for one in arrived} == {one.order_id for one in sent}


def test_what_is_sent_again_at_once_arrives_once(world: LaneQueueWorld) -> None:
    """C3: a crash half-way through a ledger doubles nothing."""
    for _ in range(2):
        world.queue.send([message("ord-1", 1), message("ord-2", 2)])

    assert sorted(one.body for one in world.arrived()) == ["ord-1 1", "ord-2 2"]


def test_the_same_entry_number_of_two_ledgers_is_two_messages(world: LaneQueueWorld) -> None:
    world.queue.send([message("ord-1", 1), message("ord-1", 1, "ledger-2")])

    assert len(world.arrived()) == 2


def test_nothing_to_send_is_no_call(world: LaneQueueWorld) -> None:
    world.queue.send([])

    assert world.arrived() == []


@pytest.mark.parametrize("order_id", ["o" * 200, "sha256-" + "0" * 64])
def test_an_id_that_cannot_be_a_group_is_one_all_the_same(world: LaneQueueWorld, order_id: str) -> None:
    world.queue.send([message(order_id, 1), message(order_id, 2)])

    assert bodies_of(order_id, world.arrived()) == [f"{order_id} 1", f"{order_id} 2"]
