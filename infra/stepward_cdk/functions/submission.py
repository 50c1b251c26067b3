"""The function that accepts orders."""

from __future__ import annotations

from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import READ_ONE, SEND, WRITE, allow, allow_queue


class Submission(Worker):
    """Writes each order with its task, and asks the agents of its first steps, or has the Scheduler do it."""

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
                **parts.for_asking,
                "STEPWARD_FINISHED_DAYS": str(settings.finished_days),
                **({"STEPWARD_CUSTOMER_INDEX": "true"} if settings.customer_index_since else {}),
                **settings.replies.environment,
            },
        )
        self.consume(queues.orders, batch_size=settings.batch_size, max_concurrency=settings.engine_concurrency)
        allow(self.function, tables.orders, READ_ONE, WRITE)  # it reads an existing order: a duplicate or a conflict
        allow(self.function, tables.tasks, READ_ONE, WRITE)  # it reads a cancellation that came before its order
        parts.let_reject(self.function)
        # It sends an order anew that fails for now.
        for queue in (queues.scheduler, queues.orders, *queues.of_agents):
            allow_queue(self.function, queue.queue, SEND)
