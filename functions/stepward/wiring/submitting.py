"""What accepts an order, whoever brings it."""

from __future__ import annotations

from stepward.app.submission import Submit
from stepward.domain.workflow import Workflow
from stepward.ports import Queues, TaskStore
from stepward.wire.order import OrderMessage
from stepward.wiring.clock import now
from stepward.wiring.parts import Parts


def submit(parts: Parts, store: TaskStore, queues: Queues, workflow: Workflow, schema: type[OrderMessage]) -> Submit:
    """Accepts order messages of `schema` and freezes `workflow` with each."""
    return Submit(
        store=store,
        queues=queues,
        telemetry=parts.telemetry,
        schema=schema,
        plan=workflow.plan(parts.config.complete_within),
        timing=parts.config.timing,
        now=now,
        reply_queues=parts.config.reply_queues,
    )
