"""The function that applies each order's events in sequence."""

from __future__ import annotations

from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import QUERY, READ_MANY, READ_ONE, SEND, WRITE, WRITE_MANY, allow, allow_queue
from stepward_cdk.settings.convoy import FIFO_BATCH


class Convoy(Worker):
    """Takes order events and changes lanes; a create submits the order, a delete changes its task.

    It is in no cycle: an order event passes the ledger processor and the convoy once each on its way to the Scheduler.
    So Lambda's guard against loops stays on.
    """

    def __init__(self, scope: Construct, construct_id: str, *, parts: Parts) -> None:
        queues, tables, settings = parts.queues, parts.tables, parts.settings
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="convoy.handler",
            timeout=queues.order_events.consumer_timeout,
            environment={
                **parts.for_orders,
                "STEPWARD_LANES_TABLE": tables.lanes.table_name,
                "STEPWARD_SHARED_RECORDS_TABLE": tables.shared_records.table_name,
                "STEPWARD_LANES_QUEUE": queues.order_events.queue.queue_url,
                "STEPWARD_FINISHED_DAYS": str(settings.finished_days),
                **({"STEPWARD_CUSTOMER_INDEX": "true"} if settings.customer_index_since else {}),
                **parts.alerts.addresses,
                **settings.convoy.rules,
                **settings.replies.environment,
            },
        )
        self.consume(queues.order_events, batch_size=FIFO_BATCH, max_concurrency=settings.engine_concurrency)
        allow(self.function, tables.orders, READ_MANY, READ_ONE, WRITE)
        allow(self.function, tables.tasks, READ_MANY, READ_ONE, WRITE)
        allow(self.function, tables.lanes, QUERY, READ_ONE, WRITE, WRITE_MANY)
        allow(self.function, tables.shared_records, READ_ONE, WRITE)
        parts.let_reject(self.function)
        allow_queue(self.function, queues.scheduler.queue, SEND)
        parts.alerts.grant_publish(self.function)
