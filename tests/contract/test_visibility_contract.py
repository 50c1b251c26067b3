"""How a message in flight is hidden, on moto and on the local cloud."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from moto import mock_aws
from mypy_boto3_sqs import SQSClient

from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.domain.errors import Misconfigured, Transient


@dataclass(frozen=True)
class Lanes:
    """Two queues of one agent, and the adapter, which was told of the first."""

    client: SQSClient
    names: tuple[str, str]
    visibility: SqsVisibility

    def receive(self, queue: str) -> str:
        """The receipt of the one message that is visible; empty if there is none."""
        url = self.client.get_queue_url(QueueName=queue)["QueueUrl"]
        messages = self.client.receive_message(QueueUrl=url, VisibilityTimeout=600).get("Messages", [])
        return messages[0]["ReceiptHandle"] if messages else ""

    @staticmethod
    def new(client: SQSClient) -> "Lanes":
        names = (f"t{uuid.uuid4().hex[:8]}-agent", f"t{uuid.uuid4().hex[:8]}-agent-high")
        first, second = (client.create_queue(QueueName=name)["QueueUrl"] for name in names)
        for url in (first, second):
            client.send_message(QueueUrl=url, MessageBody="hello")
        return Lanes(client, names, SqsVisibility(client, first))


@pytest.fixture(params=["moto", pytest.param("cloud", marks=pytest.mark.cloud)])
def lanes(request: pytest.FixtureRequest) -> Iterator[Lanes]:
    if request.param == "moto":
        with mock_aws():
            yield Lanes.new(boto3.client("sqs"))
    else:
        yield Lanes.new(boto3.client("sqs", **request.getfixturevalue("cloud_access")))


@pytest.mark.parametrize("lane", [0, 1])
def test_a_message_comes_back_when_it_was_told_to(lanes: Lanes, lane: int) -> None:
    """From whichever of the agent's queues it came."""
    queue = lanes.names[lane]
    receipt = lanes.receive(queue)
    lanes.visibility.hide(queue, receipt, 900)
    assert lanes.receive(queue) == ""

    lanes.visibility.hide(queue, receipt, 0)

    assert lanes.receive(queue) not in {"", receipt}


def test_a_receipt_that_means_nothing_is_for_later(lanes: Lanes) -> None:
    with pytest.raises(Transient):
        lanes.visibility.hide(lanes.names[0], "AQEBhandle1", 5)


def test_a_queue_that_is_not_there_is_a_fault_of_the_deployment(lanes: Lanes) -> None:
    receipt = lanes.receive(lanes.names[0])

    with pytest.raises(Misconfigured):
        lanes.visibility.hide("nowhere", receipt, 5)
