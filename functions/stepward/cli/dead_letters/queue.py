"""A dead-letter queue: how much it holds, a look at its messages, and taking some out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepward.adapters.sqs.errors import translated
from stepward.cli.dead_letters.of_tasks import TOGETHER, DeadLetter

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import ChangeMessageVisibilityBatchRequestEntryTypeDef, MessageTypeDef

HIDDEN_S = 300


@dataclass(slots=True)
class DeadLetterQueue:
    """The dead-letter queue at `url`."""

    client: SQSClient
    url: str
    _removed: set[str] = field(default_factory=set)

    def depth(self) -> int:
        """How many messages it holds, by the count that SQS estimates; raises Transient."""
        with translated(self.url):
            found = self.client.get_queue_attributes(
                QueueUrl=self.url,
                AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            )["Attributes"]
        return int(found["ApproximateNumberOfMessages"]) + int(found["ApproximateNumberOfMessagesNotVisible"])

    @contextmanager
    def taken(self, most: int) -> Iterator[Iterator[DeadLetter]]:
        """At most `most` letters, taken as they are asked for and hidden from others until it is over.

        Those that are not removed are put back then. A FIFO queue gives no more than ten of one group until those are
        removed, and so gives nothing of a group past a letter that stays.
        """
        dead_letters: dict[str, DeadLetter] = {}
        try:
            yield self._letters(dead_letters, most)
        finally:
            self._put_back(
                [dead_letter for dead_letter in dead_letters.values() if dead_letter.message_id not in self._removed]
            )

    def _letters(self, dead_letters: dict[str, DeadLetter], most: int) -> Iterator[DeadLetter]:
        while len(dead_letters) < most and (found := self._receive(min(TOGETHER, most - len(dead_letters)))):
            fresh = [dead_letter for dead_letter in found if dead_letter.message_id not in dead_letters]
            dead_letters |= {dead_letter.message_id: dead_letter for dead_letter in found}
            yield from fresh

    def remove(self, dead_letter: DeadLetter) -> None:
        """Delete it for good; raises Transient."""
        with translated(self.url):
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=dead_letter.handle)
        self._removed.add(dead_letter.message_id)

    def _receive(self, most: int) -> list[DeadLetter]:
        with translated(self.url):
            # A long poll asks all of the queue's servers, so that none is found empty by chance.
            answer = self.client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=most,
                VisibilityTimeout=HIDDEN_S,
                WaitTimeSeconds=1,
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount", "MessageGroupId"],
            )
        return [_letter(message) for message in answer.get("Messages", [])]

    def _put_back(self, dead_letters: Sequence[DeadLetter]) -> None:
        for start in range(0, len(dead_letters), TOGETHER):
            entries: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
                {"Id": str(position), "ReceiptHandle": dead_letter.handle, "VisibilityTimeout": 0}
                for position, dead_letter in enumerate(dead_letters[start : start + TOGETHER])
            ]
            with translated(self.url):
                self.client.change_message_visibility_batch(QueueUrl=self.url, Entries=entries)


def _letter(message: MessageTypeDef) -> DeadLetter:
    attributes = message["Attributes"]
    return DeadLetter(
        message_id=message["MessageId"],
        body=message["Body"],
        sent_at=int(attributes["SentTimestamp"]),
        receives=int(attributes["ApproximateReceiveCount"]),
        handle=message["ReceiptHandle"],
        group=attributes.get("MessageGroupId", ""),
    )
