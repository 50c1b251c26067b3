"""How a message in flight is hidden, on moto and on the local cloud."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from mypy_boto3_sqs import SQSClient

from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.domain.errors import Misconfigured, Transient
from tests.contract.worlds.access import ON_AWS, access_in


@dataclass(frozen=True)
class TwoQueues:
    """Two queues of one agent, and the adapter, which has the address of the first."""

    client: SQSClient
    names: tuple[str, str]
    visibility: SqsVisibility

    def receive(self, queue: str) -> str:
        """The receipt of the one message that is visible; empty if there is none."""
        url = self.client.get_queue_url(QueueName=queue)["QueueUrl"]
        messages = self.client.receive_message(QueueUrl=url, VisibilityTimeout=600).get("Messages", [])
        return messages[0]["ReceiptHandle"] if messages else ""

    @staticmethod
    def new(client: SQSClient) -> "TwoQueues":
        names = (f"t{uuid.uuid4().hex[:8]}-agent", f"t{uuid.uuid4().hex[:8]}-agent-high")
        first, second = (client.create_queue(QueueName=name)["QueueUrl"] for name in names)
        for url in (first, second):
            client.send_message(QueueUrl=url, MessageBody="hello")
        return TwoQueues(client, names, SqsVisibility(client, first))


@pytest.fixture(params=ON_AWS)
def queues(request: pytest.FixtureRequest) -> Iterator[TwoQueues]:
    with access_in(request.param, request) as access:
        yield TwoQueues.new(boto3.client("sqs", **(access or {})))


@pytest.mark.parametrize("number", [0, 1])
def test_a_message_comes_back_after_its_time(queues: TwoQueues, number: int) -> None:
    """From whichever of the agent's queues it came."""
    queue = queues.names[number]
    receipt = queues.receive(queue)
    queues.visibility.hide(queue, receipt, 900)
    assert queues.receive(queue) == ""

    queues.visibility.hide(queue, receipt, 0)

    assert queues.receive(queue) not in {"", receipt}


def test_an_unknown_receipt_is_transient(queues: TwoQueues) -> None:
    with pytest.raises(Transient):
        queues.visibility.hide(queues.names[0], "AQEBhandle1", 5)


def test_a_queue_that_is_not_there_is_a_fault_of_the_deployment(queues: TwoQueues) -> None:
    receipt = queues.receive(queues.names[0])

    with pytest.raises(Misconfigured):
        queues.visibility.hide("nowhere", receipt, 5)


def test_a_message_that_is_sent_anew_comes_after_its_time_with_its_receives_at_zero(queues: TwoQueues) -> None:
    queue = queues.names[1]
    url = queues.client.get_queue_url(QueueName=queue)["QueueUrl"]
    queues.visibility.hide(queue, queues.receive(queue), 900)

    queues.visibility.send_anew(queue, "later", 900)
    assert queues.receive(queue) == ""
    queues.visibility.send_anew(queue, "now", 0)

    (found,) = queues.client.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"]
    assert (found["Body"], found["Attributes"]["ApproximateReceiveCount"]) == ("now", "1")
