"""The function that applies order events, each order's in their sequence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import stepward.app.alerting
import stepward.app.convoy.intake
import stepward.wire.convoy  # noqa: F401
from stepward.adapters.lambda_.groups import GroupWorker
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.domain.workflow.application import App
from stepward.wiring import Handler
from stepward.wiring.alerts import alerts
from stepward.wiring.lanes import lanes_of
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of


def convoy(app: App, env: Mapping[str, str] = os.environ) -> Handler[GroupWorker]:
    """Applies events of `app`; a create submits an order."""
    return Handler(partial(_worker, app, env))


def _worker(app: App, env: Mapping[str, str]) -> GroupWorker:
    parts = Parts.of(env)
    config, queues = parts.config, parts.queues(scheduler=parts.config.scheduler_queue)
    assembly = replace(
        parts.assembly,
        app=app,
        store=store_of(parts, config.orders_table),
        queues=queues,
        rejects=parts.rejects(),
        shared_records=parts.shared_records(),
        alerts=alerts(parts),
        lanes=lanes_of(parts),
    )
    visibility = SqsVisibility(queues.client, config.lanes_queue)
    return GroupWorker(assembly.convoy(parts.instance("convoy")).take, parts.telemetry, visibility, together=True)
