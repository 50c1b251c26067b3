"""Connects to a named deployment."""

from __future__ import annotations

from stepward.app.agent.breakers import Breakers
from stepward.app.scheduler.audit_log import AuditLog
from stepward.cli.deployment.options import Target
from stepward.operator.connection import Connection
from stepward.stack_outputs import Deployment


def connect(target: Target) -> Connection:
    """The deployment that `target` names; if it cannot be reached, raises StepwardError with what to do."""
    # The AWS SDK takes most of a second to import, and `--help` does not need it.
    from stepward.adapters.dynamodb.tables import Access
    from stepward.adapters.sqs.lane_queue import SqsLaneQueue
    from stepward.adapters.sqs.queues import SqsQueues, SqsSender
    from stepward.cli.deployment.aws import find_account
    from stepward.operator.indexes import DynamoSearches
    from stepward.wiring.clock import new_id, now
    from stepward.wiring.lanes import lanes_in
    from stepward.wiring.parts import rejects_of, shared_records_of
    from stepward.wiring.tasks import task_store

    account = find_account(target)
    parts = Deployment.from_outputs(account.outputs(target.stack))
    access, sqs = Access(account.region, account.endpoint), account.sqs()
    access.connect()  # lists are read side by side
    shared_records = shared_records_of(access, parts.shared_records_table)
    store = task_store(access, orders=parts.orders_table, tasks=parts.tasks_table, shards=parts.shards)
    return Connection(
        deployment=parts,
        store=store,
        searches=DynamoSearches(store),
        rejects=rejects_of(access, parts.rejects_table, account.s3, parts.rejects_bucket),
        queues=SqsQueues(sqs, parts.scheduler_queue_url, parts.responses_queue_url, {}),
        sender=SqsSender(sqs),
        sqs=sqs,
        breakers=Breakers(shared_records),
        audit_log=AuditLog(shared_records),
        shared_records=shared_records,
        lanes=lanes_in(access, parts.lanes_table, parts.shards),
        lane_queue=SqsLaneQueue(sqs, parts.order_events_queue_url),
        s3=account.s3,
        alarms=lambda: account.alarms(target.stack),
        now=now,
        new_id=new_id,
    )
