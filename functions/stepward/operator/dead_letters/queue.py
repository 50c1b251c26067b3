"""A dead-letter queue: counts, receives and removes its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepward.adapters.sqs.errors import translated
from stepward.operator.dead_letters.of_tasks import TOGETHER, DeadLetter

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import ChangeMessageVisibilityBatchRequestEntryTypeDef, MessageTypeDef

HIDDEN_S = 300
LONG_POLL_S = 1
"""A long poll asks all servers of the queue; a short one may find nothing by chance."""


@dataclass(slots=True)
class DeadLetterQueue:
    """The dead-letter queue at `url`."""

    client: SQSClient
    url: str
    _removed: set[str] = field(default_factory=set)

    def depth(self) -> int:
        """The number of its messages, as SQS estimates it; raises Transient."""
        with translated(self.url):
            found = self.client.get_queue_attributes(
                QueueUrl=self.url,
                AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            )["Attributes"]
        return int(found["ApproximateNumberOfMessages"]) + int(found["ApproximateNumberOfMessagesNotVisible"])

    @contextmanager
    def taken(self, most: int) -> Iterator[Iterator[DeadLetter]]:
        """At most `most` dead letters, received on demand and hidden from other receivers until the block ends.

        Those that are not removed return to the queue then. A FIFO queue returns no more than ten messages of a group
        until those are removed, and so none behind a message that stays.
        """
        taken: dict[str, DeadLetter] = {}
        try:
            yield self._received(taken, most)
        finally:
            self._return([each for each in taken.values() if each.message_id not in self._removed])

    def _received(self, taken: dict[str, DeadLetter], most: int) -> Iterator[DeadLetter]:
        while len(taken) < most and (found := self._receive(min(TOGETHER, most - len(taken)))):
            fresh = [each for each in found if each.message_id not in taken]
            taken |= {each.message_id: each for each in found}
            yield from fresh

    def remove(self, dead_letter: DeadLetter) -> None:
        """Delete a message; raises Transient."""
        with translated(self.url):
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=dead_letter.handle)
        self._removed.add(dead_letter.message_id)

    def _receive(self, most: int) -> list[DeadLetter]:
        with translated(self.url):
            answer = self.client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=most,
                VisibilityTimeout=HIDDEN_S,
                WaitTimeSeconds=LONG_POLL_S,
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount", "MessageGroupId"],
            )
        return [_dead_letter(message) for message in answer.get("Messages", [])]

    def _return(self, dead_letters: Sequence[DeadLetter]) -> None:
        for start in range(0, len(dead_letters), TOGETHER):
            entries: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
                {"Id": str(number), "ReceiptHandle": each.handle, "VisibilityTimeout": 0}
                for number, each in enumerate(dead_letters[start : start + TOGETHER])
            ]
            with translated(self.url):
                self.client.change_message_visibility_batch(QueueUrl=self.url, Entries=entries)


def _dead_letter(message: MessageTypeDef) -> DeadLetter:
    attributes = message["Attributes"]
    return DeadLetter(
        message_id=message["MessageId"],
        body=message["Body"],
        sent_at=int(attributes["SentTimestamp"]),
        receives=int(attributes["ApproximateReceiveCount"]),
        handle=message["ReceiptHandle"],
        group=attributes.get("MessageGroupId", ""),
    )
