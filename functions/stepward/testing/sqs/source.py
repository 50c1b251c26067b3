"""A real SQS queue as a source for the poller."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.rules import Refused

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageAttributeValueOutputTypeDef

_HANDLE_REFUSED = frozenset({"ReceiptHandleIsInvalid", "InvalidParameterValue"})


@dataclass(frozen=True, slots=True)
class SqsSource:
    """One SQS queue; never waits for messages."""

    client: SQSClient
    queue_url: str
    arn: str

    @staticmethod
    def at(client: SQSClient, queue_url: str) -> SqsSource:
        """The queue at this URL."""
        answer = client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])
        return SqsSource(client, queue_url, answer["Attributes"]["QueueArn"])

    def receive(self, most: int) -> Sequence[Received]:
        """Up to `most` messages, at most 10."""
        answer = self.client.receive_message(
            QueueUrl=self.queue_url,
            MaxNumberOfMessages=most,
            WaitTimeSeconds=0,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return [
            Received(
                message["MessageId"],
                message["ReceiptHandle"],
                message["Body"],
                {str(name): value for name, value in message.get("Attributes", {}).items()},
                {name: _as_in_events(value) for name, value in message.get("MessageAttributes", {}).items()},
            )
            for message in answer.get("Messages", [])
        ]

    def delete(self, handle: str) -> None:
        """Delete the message of this handle; raises Refused if SQS refuses the handle."""
        try:
            self.client.delete_message(QueueUrl=self.queue_url, ReceiptHandle=handle)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "no code")
            if code not in _HANDLE_REFUSED:
                raise
            raise Refused(code, "the receipt handle has expired or is not of this queue") from error


def _as_in_events(value: MessageAttributeValueOutputTypeDef) -> Mapping[str, Any]:
    shaped: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "BinaryValue" in value:
        return {**shaped, "binaryValue": base64.b64encode(value["BinaryValue"]).decode()}
    return {**shaped, "stringValue": value.get("StringValue", "")}
