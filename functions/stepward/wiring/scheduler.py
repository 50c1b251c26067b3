"""The function that runs the steps of every task in their order."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from botocore.config import Config as ClientConfig

import stepward.app.alerting
import stepward.app.scheduler.schedule
import stepward.domain.steps.call  # noqa: F401
from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.sqs.notices import CheckedNotices, SqsReplyQueues
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.wiring import Handler
from stepward.wiring.alerts import alerts
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


def scheduler(env: Mapping[str, str] = os.environ) -> Handler[BatchWorker]:
    """Applies messages to the Scheduler and replies of agents, and notifies submitters."""
    return Handler(partial(_worker, env))


def _worker(env: Mapping[str, str]) -> BatchWorker:
    parts = Parts.of(env)
    outbox = Outbox(parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues))
    assembly = replace(
        parts.assembly,
        store=store_of(parts, parts.config.orders_table),
        queues=outbox,
        rejects=parts.rejects(),
        shared_records=parts.shared_records(),
        alerts=alerts(parts),
        notices=_notices(parts),
        sleep=time.sleep,  # noqa: TID251 - at most a tenth of a second before a lost write is tried again
        jitter=random.random,
        callback_keys=_callback_keys(parts),
    )
    schedule = assembly.scheduler(parts.instance("scheduler"))
    visibility = SqsVisibility(outbox.queues.client, parts.config.scheduler_queue)
    intake = assembly.intake(schedule.handle, schedule.take)
    return BatchWorker(intake, parts.telemetry, visibility=visibility, outbox=outbox, lasting=True)


def _callback_keys(parts: Parts) -> Callable[[], Sequence[bytes]] | None:
    if not (secret := parts.config.callback_secret):
        return None
    from stepward.adapters.callback_keys import CallbackKeys  # noqa: PLC0415 - only where a step is answered later

    return CallbackKeys(cache(partial(parts.client, "secretsmanager")), secret, parts.assembly.now).read


def _notices(parts: Parts) -> CheckedNotices:
    # A submitter's queue is not worth waiting for.
    config = parts.client_config.merge(ClientConfig(read_timeout=2))

    @cache
    def client(region: str) -> SQSClient:
        return cast("SQSClient", parts.client("sqs", region, config))

    notices = CheckedNotices(SqsReplyQueues(client), parts.config.reply_queues, parts.telemetry)
    return replace(notices, workflow=parts.config.workflow)
