"""The function that serves one agent."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.outbox import Outbox
from stepward.adapters.sqs_visibility import SqsVisibility
from stepward.app.breakers import Breakers
from stepward.app.guarding import Guard
from stepward.app.serving import Serve
from stepward.config import Config
from stepward.domain.workflow import Workflow
from stepward.wiring.batches import worker
from stepward.wiring.clock import new_id, now
from stepward.wiring.parts import Parts


def agent(env: Mapping[str, str], workflow: Workflow) -> BatchWorker:
    """Calls the operations that `workflow` has of the agent."""
    parts = Parts(Config(env))
    outbox = Outbox(parts.queues(responses=parts.config.responses_queue))
    serve = Serve(
        operations=workflow.operations(parts.config.agent),
        queues=outbox,
        telemetry=parts.telemetry,
        now=now,
        sleep=time.sleep,  # noqa: TID251 - short waits between the calls of one attempt, bounded by complete-by
        jitter=random.random,
        guard=Guard(parts.config.agent, Breakers(parts.controls()), parts.telemetry, parts.config.breaker, new_id),
    )
    visibility = SqsVisibility(outbox.queues.client, parts.config.requests_queue)
    return worker(parts, serve.handle, outbox, together=True, visibility=visibility)
