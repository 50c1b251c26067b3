"""The calls with which a command works on a dead-letter queue, answered by a queue in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepward.testing.sqs.queue import MemoryQueue


@dataclass
class MemorySqs:
    """A client of SQS that knows one queue, whatever the URL."""

    queue: MemoryQueue

    def get_queue_attributes(self, **_: object) -> Any:
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return {"Attributes": dict(zip(names, (self.queue.waiting, self.queue.in_flight), strict=True))}

    def receive_message(self, **asked: Any) -> Any:
        found = self.queue.receive(asked["MaxNumberOfMessages"], visibility_timeout=asked["VisibilityTimeout"])
        return {
            "Messages": [
                {
                    "MessageId": each.message_id,
                    "Body": each.body,
                    "ReceiptHandle": each.handle,
                    "Attributes": each.attributes,
                }
                for each in found
            ]
        }

    def delete_message(self, **asked: str) -> None:
        self.queue.delete(asked["ReceiptHandle"])

    def change_message_visibility_batch(self, **asked: Any) -> None:
        for each in asked["Entries"]:
            self.queue.change_visibility(each["ReceiptHandle"], each["VisibilityTimeout"])
