"""The function that accepts orders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import stepward.app.scheduler.transition
import stepward.app.submission
import stepward.domain.steps.call  # noqa: F401
from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.domain.workflow.application import App
from stepward.wiring import Handler
from stepward.wiring.parts import Parts
from stepward.wiring.tasks import store_of


def submission(app: App, env: Mapping[str, str] = os.environ) -> Handler[BatchWorker]:
    """Accepts orders of `app` from their queue, and asks the agents of their first steps."""
    return Handler(partial(_worker, app, env))


def _worker(app: App, env: Mapping[str, str]) -> BatchWorker:
    parts = Parts.of(env)
    outbox = Outbox(parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues))
    store = store_of(parts, parts.config.orders_table)
    assembly = replace(parts.assembly, app=app, store=store, queues=outbox, rejects=parts.rejects())
    visibility = SqsVisibility(outbox.queues.client, parts.config.scheduler_queue)
    intake = assembly.intake(assembly.submission(parts.instance("submission")).handle)
    return BatchWorker(intake, parts.telemetry, visibility=visibility, outbox=outbox, lasting=True)
