"""The function that finds what is overdue; a schedule starts it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import stepward.app.supervisor.defect_sweep
import stepward.app.supervisor.lane_sweep
import stepward.app.supervisor.task_sweep
import stepward.domain.steps.call  # noqa: F401
from stepward.adapters.lambda_.side_by_side import SideBySide
from stepward.adapters.lambda_.sweep import SweepWorker
from stepward.wiring import Handler
from stepward.wiring.alerts import alerts
from stepward.wiring.lanes import lanes_of
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of

SHARDS_AT_ONCE, CHECKS_AT_ONCE = 4, 8
"""Shards that are swept side by side, and the checks in each of them."""


def supervisor(env: Mapping[str, str] = os.environ) -> Handler[SweepWorker]:
    """Sweeps the due indexes of tasks and lanes."""
    return Handler(partial(_worker, env))


def _worker(env: Mapping[str, str]) -> SweepWorker:
    parts = Parts.of(env)
    assembly = replace(
        parts.assembly,
        store=store_of(parts),
        queues=parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues),
        shared_records=parts.shared_records(),
        alerts=alerts(parts),
        lanes=lanes_of(parts),
    )
    parts.access.connect()
    supervise = assembly.supervisor(parts.instance("supervisor"), parts.config.agent_queues)
    supervise = replace(supervise, shard_by_shard=SideBySide(SHARDS_AT_ONCE), one_by_one=SideBySide(CHECKS_AT_ONCE))
    return SweepWorker(supervise, parts.telemetry)
