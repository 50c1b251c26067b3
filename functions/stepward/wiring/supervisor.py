"""The function that finds what is overdue; a schedule starts it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import stepward.app.supervisor.defect_sweep
import stepward.app.supervisor.lane_sweep
import stepward.app.supervisor.task_sweep
import stepward.domain.steps.call  # noqa: F401
from stepward.adapters.lambda_.side_by_side import SideBySide
from stepward.adapters.lambda_.sweep import SweepWorker
from stepward.adapters.sqs.queues import counted
from stepward.app.supervisor.queue_check import Counted, QueueCheck
from stepward.domain.attention import FIFO_IN_FLIGHT
from stepward.domain.history import HistoryKind
from stepward.wiring import Handler
from stepward.wiring.alerts import alerts
from stepward.wiring.clock import now
from stepward.wiring.lanes import lanes_of
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from stepward.config import Config

SHARDS_AT_ONCE, CHECKS_AT_ONCE = 4, 8
"""Shards that are swept side by side, and the checks in each of them."""


def supervisor(env: Mapping[str, str] = os.environ) -> Handler[SweepWorker]:
    """Sweeps the due indexes of tasks and lanes."""
    return Handler(partial(_worker, env))


def _worker(env: Mapping[str, str]) -> SweepWorker:
    parts = Parts.of(env)
    queues = parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues)
    assembly = replace(
        parts.assembly,
        store=store_of(parts),
        queues=queues,
        shared_records=parts.shared_records(),
        alerts=alerts(parts),
        lanes=lanes_of(parts),
    )
    parts.access.connect()
    supervise = assembly.supervisor(parts.instance("supervisor"), parts.config.agent_queues)
    supervise = replace(
        supervise,
        sweeps=[QueueCheck(_counted(parts.config, queues.client), parts.telemetry, now), *supervise.sweeps],
        shard_by_shard=SideBySide(SHARDS_AT_ONCE),
        one_by_one=SideBySide(CHECKS_AT_ONCE),
    )
    return SweepWorker(supervise, parts.telemetry)


def _counted(config: Config, client: SQSClient) -> list[Counted]:
    """What lean watching has counted; the agents' dead letters are no loss, because each was asked for anew."""
    if not (queues := config.dead_letter_queues):
        return []
    dead = [Counted(name, HistoryKind.DEAD_LETTERS, 1, partial(counted, client, url)) for name, url in queues.items()]
    hidden = partial(counted, client, config.lanes_queue, hidden=True)
    return [*dead, Counted("order-events", HistoryKind.CROWDED, FIFO_IN_FLIGHT, hidden)]
