"""The function that accepts orders."""

from __future__ import annotations

from collections.abc import Mapping

from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.outbox import Outbox
from stepward.config import Config
from stepward.domain.workflow import Workflow
from stepward.wire.order import OrderMessage
from stepward.wiring.batches import worker
from stepward.wiring.parts import Parts
from stepward.wiring.submitting import submit
from stepward.wiring.tasks import store_of


def submission(env: Mapping[str, str], workflow: Workflow, schema: type[OrderMessage]) -> BatchWorker:
    """Accepts order messages of `schema` and freezes `workflow` with each."""
    parts = Parts(Config(env))
    outbox = Outbox(parts.queues(scheduler=parts.config.scheduler_queue))
    accept = submit(parts, store_of(parts, parts.config.orders_table), outbox, workflow, schema)
    return worker(parts, accept.handle, outbox)
