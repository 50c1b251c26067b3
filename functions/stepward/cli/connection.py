"""From the name of a deployment to the adapters that read and write it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access
from stepward.adapters.sqs import SqsQueues, SqsSender
from stepward.app.breakers import Breakers
from stepward.app.trail import Trail
from stepward.cli.account import find_account
from stepward.cli.where import Where
from stepward.local.deployment import Deployment
from stepward.wiring import kept_rejects, now, shared_controls, task_store

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@dataclass(frozen=True, slots=True)
class Connection:
    """A deployment within reach; `now` is epoch milliseconds."""

    deployment: Deployment
    store: DynamoTaskStore
    rejects: DynamoRejects
    queues: SqsQueues
    sender: SqsSender
    sqs: SQSClient
    breakers: Breakers
    trail: Trail
    now: Callable[[], int]


def connect(where: Where) -> Connection:
    """The deployment that `where` names; raises StepwardError with what to do if it cannot be reached."""
    account = find_account(where)
    parts = Deployment.from_outputs(account.outputs(where.stack))
    access, sqs = Access(account.region, account.endpoint), account.sqs()
    controls = shared_controls(access, parts.controls_table)
    return Connection(
        deployment=parts,
        store=task_store(access, orders=parts.orders_table, tasks=parts.tasks_table, shards=parts.shards),
        rejects=kept_rejects(access, parts.rejects_table),
        queues=SqsQueues(sqs, parts.scheduler_queue_url, parts.responses_queue_url, {}),
        sender=SqsSender(sqs),
        sqs=sqs,
        breakers=Breakers(controls),
        trail=Trail(controls),
        now=now,
    )
