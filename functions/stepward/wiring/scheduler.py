"""The function that runs the steps of every task in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, cast

from botocore.config import Config as ClientConfig

from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.notices import CheckedNotices, SqsReplyQueues
from stepward.adapters.outbox import Outbox
from stepward.app.scheduling import Schedule
from stepward.app.trail import Trail
from stepward.config import Config
from stepward.wiring.batches import worker
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of, transition_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


def scheduler(env: Mapping[str, str]) -> BatchWorker:
    """Applies what the Scheduler is told and what agents answer, and tells submitters."""
    parts = Parts(Config(env))
    store = store_of(parts, parts.config.orders_table)
    outbox = Outbox(parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues))
    telling = replace(transition_of(parts, "scheduler", store, outbox), notices=_notices(parts))
    return worker(parts, Schedule(telling, Trail(parts.controls())).handle, outbox)


def _notices(parts: Parts) -> CheckedNotices:
    # A submitter's queue is not worth waiting for.
    config = parts.client_config.merge(ClientConfig(read_timeout=2))

    @cache
    def client(region: str) -> SQSClient:
        return cast("SQSClient", parts.client("sqs", region, config))

    return CheckedNotices(SqsReplyQueues(client), parts.config.reply_queues, parts.telemetry)
