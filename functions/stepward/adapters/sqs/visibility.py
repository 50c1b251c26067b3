"""Hides a received message for a while, or sends it anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.adapters.sqs.errors import translated

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@dataclass(frozen=True, slots=True)
class SqsVisibility:
    """Hides messages in flight, in the queue at `queue_url` and in others of the same account and region."""

    client: SQSClient
    queue_url: str

    def hide(self, queue: str, receipt: str, seconds: int) -> None:
        """Let a message of that queue come back after `seconds`; raises Transient or Misconfigured."""
        url = f"{self.queue_url.rpartition('/')[0]}/{queue}"
        with translated(url):
            self.client.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=seconds)

    def send_anew(self, queue: str, body: str, seconds: int) -> None:
        """Send a message of that queue, which is no FIFO queue, once more; it comes after `seconds`, at most 900.

        Its receives are counted from zero again. Raises Transient or Misconfigured.
        """
        url = f"{self.queue_url.rpartition('/')[0]}/{queue}"
        with translated(url):
            self.client.send_message(QueueUrl=url, MessageBody=body, DelaySeconds=seconds)
