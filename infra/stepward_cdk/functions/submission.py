"""The function that accepts orders."""

from __future__ import annotations

from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import READ_ONE, WRITE


class Submission(Worker):
    """Writes each order with its task, and sends the task's start to the Scheduler."""

    def __init__(self, scope: Construct, construct_id: str, *, parts: Parts) -> None:
        queues, tables, settings = parts.queues, parts.tables, parts.settings
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="submission.handler",
            timeout=queues.orders.consumer_timeout,
            in_cycle=True,
            environment={
                **parts.for_orders,
                "STEPWARD_FINISHED_DAYS": str(settings.finished_days),
                **settings.replies.environment,
            },
        )
        self.consume(queues.orders, batch_size=settings.batch_size, max_concurrency=settings.engine_concurrency)
        tables.orders.grant(self.function, READ_ONE, WRITE)  # it reads an existing order: a duplicate or a conflict
        tables.tasks.grant(self.function, READ_ONE, WRITE)  # it reads a cancellation that came before its order
        tables.rejects.grant(self.function, WRITE)
        for queue in (queues.scheduler, queues.orders):  # it sends an order anew that fails for now
            queue.queue.grant_send_messages(self.function)
