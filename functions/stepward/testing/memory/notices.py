"""Reply queues in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepward.adapters.sqs.delivery import Outgoing
from stepward.domain.errors import Transient
from stepward.domain.messages.reply_queues import ReplyAddress
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.rules import Entry


@dataclass(frozen=True, slots=True)
class MemoryReplyQueues:
    """Posts to queues in memory by their URLs; any other queue does not exist."""

    by_url: Mapping[str, MemoryQueue]

    def __call__(self, address: ReplyAddress, message: Outgoing) -> str:
        """Post one message; see `stepward.adapters.sqs.notices.Post`."""
        queue = self.by_url.get(address.url)
        if queue is None:
            return f"{address.url}: QueueDoesNotExist"
        answer = queue.send_batch([Entry("0", message.body, message.group, message.deduplication)])
        for failed in answer.failed:
            if not failed.sender_fault:
                raise Transient(f"{address.url}: {failed.code}; send again")
            return f"{address.url}: {failed.code}"
        return ""
