"""Notices to submitters: only to allowed queues. A queue that is gone never holds up an order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from stepward.adapters.sqs.delivery import Outgoing, for_queue
from stepward.domain.errors import Rejected, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import group
from stepward.domain.messages import Notice, ReportReject
from stepward.domain.messages.reply_queues import Allowed, ReplyAddress, check
from stepward.ports import Telemetry
from stepward.wire.notices import encode_notice, encode_reject

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

Post = Callable[[ReplyAddress, Outgoing], str]
"""One call that posts a message; returns why the queue cannot be used, "" if it took it. Raises Transient."""

_MAY_PASS = frozenset(
    {
        "RequestThrottled",
        "RequestThrottledException",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "KMS.ThrottlingException",
        "KmsThrottled",
        "ExpiredToken",
        "ExpiredTokenException",
        "RequestExpired",
    }
)


@dataclass(frozen=True, slots=True)
class CheckedNotices:
    """`ports.Notices` on `post_to`; checks the address again before each call, whatever the record says."""

    post_to: Post
    allowed: Allowed
    telemetry: Telemetry
    workflow: str = ""
    """The name of the default workflow."""

    def post(self, notice: Notice | ReportReject) -> None:
        """Post the notice, or record it as lost; raises Transient."""
        if reason := self._fault(notice):
            step, what = (notice.step, notice.status) if isinstance(notice, Notice) else ("", "rejected")
            entry = HistoryEntry(notice.at, HistoryKind.NOTICE_LOST, step, note=f"{what}: {reason}")
            self.telemetry.record(notice.order_id, entry)

    def _fault(self, notice: Notice | ReportReject) -> str:
        try:
            address = check(notice.reply_to, self.allowed)
        except Rejected as refusal:
            return str(refusal)
        (message,) = for_queue([_outgoing(notice, self.workflow)], fifo=address.fifo)
        return self.post_to(address, message)


@dataclass(frozen=True, slots=True)
class SqsReplyQueues:
    """Posts to SQS queues in any region; `client` returns the client of a region ("": the deployment's own)."""

    client: Callable[[str], SQSClient]

    def __call__(self, address: ReplyAddress, message: Outgoing) -> str:
        """Post one message; see `Post`."""
        try:
            self._send(address, message)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "no code")
            if _may_pass(error, code):
                raise Transient(f"{address.url}: {code}; send again") from error
            return f"{address.url}: {code}"
        except BotoCoreError as error:
            raise Transient(f"{address.url}: {type(error).__name__}; send again") from error
        return ""

    def _send(self, address: ReplyAddress, message: Outgoing) -> None:
        client = self.client(address.region)
        if not address.fifo:
            client.send_message(QueueUrl=address.url, MessageBody=message.body)
            return
        client.send_message(
            QueueUrl=address.url,
            MessageBody=message.body,
            MessageGroupId=message.group,
            MessageDeduplicationId=message.deduplication,
        )


def _outgoing(notice: Notice | ReportReject, workflow: str) -> Outgoing:
    if isinstance(notice, ReportReject):
        return Outgoing(encode_reject(notice), group=group(notice.order_id), deduplication=notice.name)
    return Outgoing(
        encode_notice(notice, workflow),
        group=group(notice.order_id),
        deduplication=f"{notice.order_id}/{notice.revision}/{notice.status}/{notice.step}",
    )


def _may_pass(error: ClientError, code: str) -> bool:
    """Whether the queue is busy. Any other refusal would come again, and the order must not wait for it."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code in _MAY_PASS or status >= 500
