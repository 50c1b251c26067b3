"""Messages of the in-memory queues: as stored, as received, and the answers to a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Taken:
    """One entry of a batch that the queue accepted."""

    id: str
    message_id: str
    sequence: str = ""


@dataclass(frozen=True, slots=True)
class NotTaken:
    """One entry of a batch that the queue refused."""

    id: str
    code: str
    sender_fault: bool


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answer to a batch: each entry is in one of the two lists."""

    successful: list[Taken] = field(default_factory=list)
    failed: list[NotTaken] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Received:
    """A message as a consumer gets it; `message_attributes` has the shape that Lambda events have."""

    message_id: str
    handle: str
    body: str
    attributes: Mapping[str, str]
    message_attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Stored:
    """A message in its queue; times are epoch milliseconds."""

    queue: str
    number: int
    message_id: str
    body: str
    group: str
    deduplication: str
    sent_at: int
    visible_at: int
    sequence: str = ""
    receive_count: int = 0
    first_received_at: int = 0
    received_at: int = 0
    source: str = ""

    @property
    def handle(self) -> str:
        """The receipt handle of the latest receive."""
        return f"{self.queue}|{self.number}|{self.receive_count}"

    def in_flight(self, now: int) -> bool:
        """Whether a consumer holds it."""
        return self.receive_count > 0 and self.visible_at > now

    def as_received(self) -> Received:
        """The message as a consumer gets it."""
        attributes = {
            "ApproximateReceiveCount": str(self.receive_count),
            "SentTimestamp": str(self.sent_at),
            "SenderId": "AIDAMEMORY",
            "ApproximateFirstReceiveTimestamp": str(self.first_received_at),
            "MessageGroupId": self.group,
            "MessageDeduplicationId": self.deduplication,
            "SequenceNumber": self.sequence,
            "DeadLetterQueueSourceArn": self.source,
        }
        return Received(
            self.message_id, self.handle, self.body, {name: value for name, value in attributes.items() if value}
        )
