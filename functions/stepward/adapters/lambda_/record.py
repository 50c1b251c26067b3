"""The event in which Lambda hands over messages, and one record of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepward.app.intake import Received
from stepward.domain.attention import RECEIVES
from stepward.domain.errors import Rejected

LONGEST_BACKOFF_S = 300
"""A failed message comes back within this time, however often it failed. So it outlasts days of an outage before its
queue gives it up, and all goes on within minutes of the outage's end."""


@dataclass(frozen=True, slots=True)
class SqsRecord:
    """The record as it came.

    Powertools' own class is in a package that imports every other event source: a tenth of a start-up.
    """

    raw: Mapping[str, Any]

    @property
    def message_id(self) -> str:
        """The id that names the message in an answer."""
        return str(self.raw["messageId"])

    @property
    def receipt_handle(self) -> str:
        """The handle of this receive of the message."""
        return str(self.raw["receiptHandle"])

    @property
    def queue(self) -> str:
        """The name of the queue that it came from."""
        return str(self.raw["eventSourceARN"]).rsplit(":", 1)[-1]

    @property
    def group(self) -> str:
        """The message group; "" if it has none."""
        return str(self._attributes.get("MessageGroupId") or "")

    @property
    def receives(self) -> int:
        """How often it was received, including this time."""
        return int(self._attributes.get("ApproximateReceiveCount") or 1)

    @property
    def backoff(self) -> int:
        """The seconds for which it is hidden after this receive has failed."""
        return min(LONGEST_BACKOFF_S, 1 << (min(self.receives, 10) - 1))

    @property
    def message(self) -> Received:
        """The message in it."""
        sent_at = int(self._attributes.get("SentTimestamp") or 0)
        return Received(self.message_id, self.queue, sent_at, str(self.raw["body"]), self.group)

    @property
    def _attributes(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.raw["attributes"]
        return found


def records_of(event: object) -> list[SqsRecord]:
    """The records of an event of SQS; raises Rejected for any other, such as one that a person made up."""
    records = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(records, list) or not all(map(_is_of_sqs, records)):
        raise Rejected(
            "Records",
            'is not that of an event of SQS: {"Records": [{"messageId", "receiptHandle", "body", "attributes", '
            '"eventSourceARN"}, ...]}; send the message to the function\'s queue, and Lambda makes the event',
        )
    return [SqsRecord(record) for record in records]


def often_received(records: Iterable[SqsRecord]) -> dict[str, int]:
    """The records that keep coming back, by queue and message id, with the receives of each."""
    return {f"{record.queue}/{record.message_id}": record.receives for record in records if record.receives >= RECEIVES}


def _is_of_sqs(record: object) -> bool:
    if not isinstance(record, Mapping) or not isinstance(record.get("attributes"), Mapping):
        return False
    return all(isinstance(record.get(name), str) for name in ("messageId", "receiptHandle", "body", "eventSourceARN"))
