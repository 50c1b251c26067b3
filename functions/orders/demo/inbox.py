"""A queue of the demonstration, on which the operator or the submitter receives messages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import boto3

from stepward.local.access import access

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@dataclass(slots=True)
class Inbox:
    """The queue `name` on the local cloud at `endpoint`, and all messages received so far."""

    endpoint: str
    name: str
    url: str = field(init=False)
    received: list[str] = field(init=False, default_factory=list)
    _sqs: SQSClient = field(init=False)

    def __post_init__(self) -> None:
        self._sqs = boto3.client("sqs", **access(self.endpoint))
        self.url = self._sqs.create_queue(QueueName=self.name)["QueueUrl"]

    def subscribe(self, topic: str) -> None:
        """Subscribe the queue to `topic`."""
        described = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])
        queue = described["Attributes"]["QueueArn"]
        allowed = {
            "Effect": "Allow",
            "Principal": {"Service": "sns.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": queue,
            "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        self._sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"Policy": policy})
        boto3.client("sns", **access(self.endpoint)).subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue)

    def receive(self) -> list[str]:
        """Receive all waiting messages; returns the new ones."""
        before = len(self.received)
        while messages := self._sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                self.received.append(message["Body"])
                self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return self.received[before:]
