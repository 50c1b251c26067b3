"""The function that serves one agent; each agent is deployed on its own, with this handler."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import stepward.app.agent.serve  # noqa: F401
from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.sqs.outbox import Outbox
from stepward.adapters.sqs.visibility import SqsVisibility
from stepward.app.agent.replies import is_again
from stepward.domain.workflow.application import App
from stepward.wiring import Handler
from stepward.wiring.parts import Parts


def agent(app: App, env: Mapping[str, str] = os.environ) -> Handler[BatchWorker]:
    """Calls the operations of `app` for the agent that the environment names."""
    return Handler(partial(_worker, app, env))


def _worker(app: App, env: Mapping[str, str]) -> BatchWorker:
    parts = Parts.of(env)
    outbox = Outbox(parts.queues(responses=parts.config.responses_queue))
    assembly = replace(
        parts.assembly,
        app=app,
        queues=outbox,
        rejects=parts.rejects(),
        shared_records=parts.shared_records(),
        sleep=time.sleep,  # noqa: TID251 - short waits between the calls of one attempt, bounded by complete-by
        jitter=random.random,
    )
    return BatchWorker(
        assembly.intake(assembly.agent(parts.config.agent).handle),
        parts.telemetry,
        together=True,
        runs_alone=is_again,
        visibility=SqsVisibility(outbox.queues.client, parts.config.requests_queue),
        outbox=outbox,
    )
