"""What every implementation of the queues promises, in memory, on moto and on the local cloud."""

from dataclasses import replace
from typing import Any

import pytest

from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.fifo_ids import fifo_id
from stepward.domain.messages import Outcome, Reply, Resubmit, Retry, Start, StepRequest
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.rules import Refused
from stepward.wire.messages import decode_for_scheduler, decode_request
from tests.contract.worlds.queue_worlds import FIFO, HIGH, QueueWorld


def request_for(agent: str, order_id: str = "ord-1", note: str = "", **more: Any) -> StepRequest:
    asked = StepRequest(order_id, "charge", agent, "charge", 1, "token-1", 1, f"{order_id}/charge", 2_000_000, 60_000)
    return replace(asked, order={"orderId": order_id, "note": note}, **{"priority": "normal"} | more)


def drained(world: QueueWorld, name: str) -> list[Received]:
    source = world.source(name)
    messages: list[Received] = []
    while more := source.receive(10):
        messages.extend(more)
    return messages


def bodies(messages: list[Received]) -> list[str]:
    return [message.body for message in messages]


def test_what_is_sent_to_the_scheduler_arrives_whole(queue_world: QueueWorld) -> None:
    """S4: requests and answers travel as messages."""
    sent: list[Start | Retry | Resubmit] = [
        Start("ord-1"),
        Retry("ord-1", "charge", 2),
        Resubmit("ord-1", "charge", 3, "ann", "card “renewed” \U0001f600"),
    ]
    queue_world.queues.to_scheduler(sent)
    arrived = [decode_for_scheduler(body) for body in bodies(drained(queue_world, "scheduler"))]
    assert sorted(arrived, key=repr) == sorted(sent, key=repr)


def test_a_reply_goes_to_the_responses(queue_world: QueueWorld) -> None:
    """S4."""
    reply = Reply("ord-1", "charge", 1, "token-1", Outcome.OK, {"paymentId": "p-1"})
    queue_world.queues.reply([reply])
    assert [decode_for_scheduler(body) for body in bodies(drained(queue_world, "responses"))] == [reply]
    assert drained(queue_world, "scheduler") == []


def test_more_messages_than_one_call_takes_all_arrive_once(queue_world: QueueWorld) -> None:
    queue_world.queues.to_scheduler([Start(f"ord-{number}") for number in range(25)])
    arrived = [decode_for_scheduler(body).order_id for body in bodies(drained(queue_world, "scheduler"))]
    assert sorted(arrived) == sorted(f"ord-{number}" for number in range(25))


def test_more_bytes_than_one_call_takes_all_arrive_once(queue_world: QueueWorld) -> None:
    requests = [request_for("payments", f"ord-{number}", "x" * 300_000) for number in range(5)]
    queue_world.queues.to_agents(requests)
    arrived = [decode_request(body) for body in bodies(drained(queue_world, "payments"))]
    assert sorted(arrived, key=lambda request: request.order_id) == requests


def test_each_request_goes_to_the_queue_of_its_agent(queue_world: QueueWorld) -> None:
    """S4, S5."""
    queue_world.queues.to_agents([request_for("payments"), request_for("inventory"), request_for("payments", "ord-2")])
    paid = [decode_request(body).order_id for body in bodies(drained(queue_world, "payments"))]
    assert sorted(paid) == ["ord-1", "ord-2"]
    assert [decode_request(body).agent for body in bodies(drained(queue_world, "inventory"))] == ["inventory"]


def test_a_request_to_an_agent_without_a_queue_is_left_out_and_the_others_go(queue_world: QueueWorld) -> None:
    """D1: the Supervisor finds its step."""
    queue_world.queues.to_agents([request_for("payments"), request_for("shipping")])
    assert len(drained(queue_world, "payments")) == 1
    assert "payments" in queue_world.queues.reachable
    assert "shipping" not in queue_world.queues.reachable


def test_sending_nothing_is_fine(queue_world: QueueWorld) -> None:
    queue_world.queues.to_scheduler([])
    queue_world.queues.to_agents([])
    queue_world.queues.reply([])
    assert drained(queue_world, "scheduler") == []


def test_a_received_message_is_hidden_until_it_is_released(queue_world: QueueWorld) -> None:
    queue_world.send("scheduler", [Outgoing("hello")])
    source = queue_world.source("scheduler")
    [first] = source.receive(10)
    assert source.receive(10) == []
    queue_world.release("scheduler", first.handle)
    [second] = source.receive(10)
    assert second.message_id == first.message_id
    assert (first.attributes["ApproximateReceiveCount"], second.attributes["ApproximateReceiveCount"]) == ("1", "2")


def test_a_deleted_message_is_gone_and_its_neighbour_is_not(queue_world: QueueWorld) -> None:
    queue_world.send("scheduler", [Outgoing("hello"), Outgoing("still here")])
    source = queue_world.source("scheduler")
    first, second = source.receive(10)
    queue_world.release("scheduler", second.handle)
    source.delete(first.handle)
    assert bodies(drained(queue_world, "scheduler")) == [second.body]


def test_a_handle_that_the_queue_never_gave_is_refused(queue_world: QueueWorld) -> None:
    with pytest.raises(Refused, match="ReceiptHandleIsInvalid"):
        queue_world.source("scheduler").delete("nonsense")


def test_a_message_that_is_never_deleted_ends_in_the_dead_letter_queue(queue_world: QueueWorld) -> None:
    queue_world.send("payments", [Outgoing("poison")])
    source = queue_world.source("payments")
    for _ in range(2):
        [message] = source.receive(10)
        queue_world.release("payments", message.handle)
    assert source.receive(10) == []
    assert bodies(drained(queue_world, "dead")) == ["poison"]


def test_a_message_in_flight_blocks_its_own_group_only(queue_world: QueueWorld) -> None:
    """C1, C4."""
    queue_world.send(FIFO, [Outgoing("A1", "A", "a1"), Outgoing("A2", "A", "a2"), Outgoing("B1", "B", "b1")])
    source = queue_world.source(FIFO)
    [first] = source.receive(1)
    assert first.body == "A1"
    assert bodies(list(source.receive(10))) == ["B1"]
    source.delete(first.handle)
    assert bodies(list(source.receive(10))) == ["A2"]


def test_a_fifo_queue_drops_a_message_that_it_has_already_taken(queue_world: QueueWorld) -> None:
    queue_world.send(FIFO, [Outgoing("A1", "A", "a1"), Outgoing("A1 again", "A", "a1"), Outgoing("A2", "A", "a2")])
    assert bodies(drained(queue_world, FIFO)) == ["A1", "A2"]


def test_groups_with_odd_names_stay_apart(queue_world: QueueWorld) -> None:
    """C1: field case 17."""
    names = ["order 1", "order\t1", "ö" * 200, "ö" * 201]
    queue_world.send(FIFO, [Outgoing(f"{number}", name, name) for number, name in enumerate(names)])
    arrived = drained(queue_world, FIFO)
    assert bodies(arrived) == ["0", "1", "2", "3"]
    assert len({message.attributes["MessageGroupId"] for message in arrived}) == len(names)


def test_an_agent_with_more_requests_than_it_can_take_at_once_is_backlogged(queue_world: QueueWorld) -> None:
    """S11: a request that still waits in line was never tried."""
    queue_world.queues.to_agents([request_for("payments", f"ord-{number}") for number in range(11)])
    queue_world.queues.to_agents([request_for("inventory", f"ord-{number}") for number in range(10)])
    assert queue_world.queues.backlogged() == {"payments"}
    queue_world.source("payments").receive(1)
    assert queue_world.queues.backlogged() == frozenset()


def test_an_urgent_request_goes_to_the_priority_queue_of_its_agent_if_it_has_one(queue_world: QueueWorld) -> None:
    """S21: it passes what waits in the agent's queue."""
    urgent = [request_for("payments", "ord-2", priority="high"), request_for("inventory", "ord-3", priority="high")]
    queue_world.queues.to_agents([request_for("payments", "ord-1"), *urgent])
    arrived = {name: bodies(drained(queue_world, name)) for name in ("payments", HIGH, "inventory")}
    ids = {name: [decode_request(body).order_id for body in found] for name, found in arrived.items()}
    assert ids == {"payments": ["ord-1"], HIGH: ["ord-2"], "inventory": ["ord-3"]}


def test_what_waits_in_the_priority_queue_counts_for_the_backlog(queue_world: QueueWorld) -> None:
    """S11, S21."""
    queue_world.queues.to_agents([request_for("payments", f"ord-{number}") for number in range(6)])
    assert queue_world.queues.backlogged() == frozenset()
    queue_world.queues.to_agents([request_for("payments", f"ord-{number}", priority="high") for number in range(5)])
    assert queue_world.queues.backlogged() == {"payments"}


def test_a_request_names_its_tenant_to_the_queue(queue_world: QueueWorld) -> None:
    """S21: SQS takes the message group of a standard queue for the tenant, whose flood it holds behind the others."""
    tenants = ["customer-7", "", "customer 8", "ö" * 300, "x" * 129]
    queue_world.queues.to_agents([request_for("inventory", f"ord-{n}", tenant=name) for n, name in enumerate(tenants)])
    arrived = [(decode_request(each.body), each.attributes) for each in drained(queue_world, "inventory")]
    groups = {request.tenant: attributes.get("MessageGroupId", "") for request, attributes in arrived}
    assert groups == {tenant: tenant and fifo_id(tenant) for tenant in tenants}


def test_requests_of_one_tenant_are_worked_on_side_by_side(queue_world: QueueWorld) -> None:
    """S21: a tenant is no first-in-first-out group; one in flight holds back none of its neighbours."""
    requests = [request_for("inventory", f"ord-{number}", tenant="customer-7") for number in range(3)]
    queue_world.queues.to_agents(requests)
    source = queue_world.source("inventory")
    taken = [message for _ in range(3) for message in source.receive(1)]
    assert len(taken) == 3
