"""Whatever the messages of a batch send goes out together, and each failure finds its message."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import boto3
import pytest
from moto import mock_aws

from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.queues import SqsQueues
from stepward.domain.errors import Transient
from stepward.domain.messages import Outcome, Reply, Start, StepRequest
from tests.unit.sqs.flaky_sqs import FlakySqs

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/"


def flaky(fails: Callable[[str, int], str] = lambda _body, _attempt: "") -> tuple[FlakySqs, Outbox]:
    sqs = FlakySqs(fails)
    queues = SqsQueues(sqs.client(), f"{URL}scheduler", f"{URL}responses", {"payments": f"{URL}agent-payments"})
    return sqs, Outbox(queues)


def request(order_id: str, agent: str = "payments") -> StepRequest:
    return StepRequest(order_id, "charge", agent, "charge", 1, "token", 1, f"{order_id}/charge", 2, 1)


def reply(order_id: str) -> Reply:
    return Reply(order_id, "charge", 1, "token", Outcome.OK)


def orders_in(call: list[str]) -> list[str]:
    return [json.loads(body)["orderId"] for body in call]


def test_nothing_is_sent_before_the_batch_is_done() -> None:
    sqs, box = flaky()
    with box.on_behalf_of("m-0"):
        box.to_scheduler([Start("ord-0")])

    assert sqs.calls == []
    assert box.flush() == {}
    assert [orders_in(call) for call in sqs.calls] == [["ord-0"]]


def test_what_many_messages_send_to_one_queue_shares_its_calls() -> None:
    sqs, box = flaky()
    for number in range(12):
        with box.on_behalf_of(f"m-{number}"):
            box.to_agents([request(f"ord-{number}")])
            box.to_scheduler([Start(f"ord-{number}")])
    box.flush()

    assert [len(call) for call in sqs.calls] == [10, 2, 10, 2]


def test_what_was_sent_is_not_sent_again() -> None:
    sqs, box = flaky()
    with box.on_behalf_of("m-0"):
        box.reply([reply("ord-0")])
    box.flush()
    box.flush()

    assert len(sqs.calls) == 1


def test_if_a_queue_does_not_take_them_those_who_sent_to_it_come_back_and_no_others() -> None:
    """S22: each finds what its first delivery wrote, and sends again."""
    sqs, box = flaky(lambda body, _: "InternalError" if "charge" in body else "")
    with box.on_behalf_of("m-0"):
        box.to_agents([request("ord-0")])
    with box.on_behalf_of("m-1"):
        box.to_scheduler([Start("ord-1")])
    failed = box.flush()

    assert list(failed) == ["m-0"]
    assert isinstance(failed["m-0"], Transient)
    assert [orders_in(call) for call in sqs.taken if call] == [["ord-1"]]


@pytest.mark.parametrize("code", ["InternalError", "InvalidMessageContents", "lost"])
def test_a_message_that_alone_is_not_taken_brings_nobody_else_back(code: str) -> None:
    """Rule 10: an answer that went out is no reason to call its service again."""
    _, box = flaky(lambda body, _: code if "ord-3" in body else "")
    for number in range(12):
        with box.on_behalf_of(f"m-{number}"):
            box.reply([reply(f"ord-{number}")])

    assert list(box.flush()) == ["m-3"]


def test_a_request_to_an_agent_without_a_queue_is_left_out_and_the_others_go() -> None:
    """D1: the Supervisor finds its step, and counts nothing."""
    sqs, box = flaky()
    with box.on_behalf_of("m-0"):
        box.to_agents([request("ord-0", agent="courier"), request("ord-1")])

    assert box.flush() == {}
    assert [orders_in(call) for call in sqs.calls] == [["ord-1"]]
    assert box.reachable == {"payments"}


def test_a_queue_that_sqs_does_not_find_holds_up_no_other_message() -> None:
    """D1: an agent that was taken out; the message comes back until the Supervisor has freed its step, uncounted."""
    with mock_aws():
        client = boto3.client("sqs", region_name="us-east-1")
        here = client.create_queue(QueueName="responses")["QueueUrl"]
        box = Outbox(SqsQueues(client, f"{URL}scheduler", here, {"payments": f"{URL}agent-payments"}))
        with box.on_behalf_of("m-0"):
            box.to_agents([request("ord-0")])
            box.reply([reply("ord-0")])
        assert list(box.flush()) == ["m-0"]
        assert len(client.receive_message(QueueUrl=here)["Messages"]) == 1
        assert box.backlogged() == frozenset()
        assert box.reachable == frozenset()


def test_messages_that_are_worked_on_side_by_side_keep_their_own_names() -> None:
    _, box = flaky(lambda body, _: "InternalError" if "ord-3" in body else "")
    together = Barrier(5)

    def work(number: int) -> None:
        with box.on_behalf_of(f"m-{number}"):
            together.wait()
            box.to_agents([request(f"ord-{number}")] if number == 3 else [])
            box.reply([reply(f"ord-{number}")] if number != 3 else [])

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(work, range(5)))

    assert list(box.flush()) == ["m-3"]
