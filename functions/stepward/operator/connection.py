"""A deployment that can be reached: the adapters that read and write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.audit_log import AuditLog
from stepward.operator.searches import Searches
from stepward.ports import LaneQueue, Lanes, SharedRecords
from stepward.stack_outputs import Deployment

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

    from stepward.adapters.dynamodb.rejects import DynamoRejects
    from stepward.adapters.dynamodb.task_store import DynamoTaskStore
    from stepward.adapters.sqs.queues import SqsQueues, SqsSender


@dataclass(frozen=True, slots=True)
class Connection:
    """A reachable deployment; `now` is epoch milliseconds, `new_id` makes a unique name."""

    deployment: Deployment
    store: DynamoTaskStore
    searches: Searches
    rejects: DynamoRejects
    queues: SqsQueues
    sender: SqsSender
    sqs: SQSClient
    breakers: Breakers
    audit_log: AuditLog
    shared_records: SharedRecords
    lanes: Lanes
    lane_queue: LaneQueue
    s3: Callable[[], S3Client]
    alarms: Callable[[], Iterable[tuple[str, str, int]]]
    """The alarms of the stack that are on: the name, the reason, and since when (epoch ms)."""
    now: Callable[[], int]
    new_id: Callable[[], str]
