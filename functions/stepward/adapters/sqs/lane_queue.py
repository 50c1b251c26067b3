"""The queue to the lanes of the orders, on SQS."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from stepward.adapters.sqs.delivery import Outgoing, lane_messages
from stepward.adapters.sqs.queues import SqsSender
from stepward.domain.convoy.lane_message import LaneMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

STREAMS = 8


@dataclass(frozen=True, slots=True)
class SqsLaneQueue:
    """`ports.LaneQueue` on a FIFO queue; up to `streams` calls run side by side, each for other orders."""

    client: SQSClient
    queue_url: str
    streams: int = STREAMS

    def send(self, messages: Sequence[LaneMessage]) -> None:
        """Send each order's messages in sequence; see the port."""
        shares: list[list[Outgoing]] = [[] for _ in range(self.streams)]
        for message in lane_messages(messages):
            shares[crc32(message.group.encode()) % self.streams].append(message)
        wanted = [share for share in shares if share]
        if len(wanted) == 1:
            SqsSender(self.client).send(self.queue_url, wanted[0])
            return
        with ThreadPoolExecutor(max_workers=self.streams) as threads:
            sends = [threads.submit(SqsSender(self.client).send, self.queue_url, share) for share in wanted]
        for sent in sends:
            sent.result()
