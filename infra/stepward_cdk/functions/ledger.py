"""The function that splits ledgers into order events."""

from __future__ import annotations

from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import READ_ONE, SEND, WRITE, allow, allow_queue
from stepward_cdk.settings.settings import LEAST_CONCURRENCY


class Ledger(Worker):
    """Takes ledgers of all customers, or of `customer` alone from its own queue, and sends their entries to the lanes.

    A ledger that takes several runs stays one message, so it is in no cycle.
    """

    def __init__(self, scope: Construct, construct_id: str, *, parts: Parts, customer: str = "") -> None:
        queues, tables = parts.queues, parts.tables
        source = queues.customers[customer] if customer else queues.ledgers
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="ledger.handler",
            timeout=source.consumer_timeout,
            environment={
                "STEPWARD_LEDGERS_BUCKET": parts.ledgers.bucket.bucket_name,
                **parts.for_rejecting,
                "STEPWARD_SHARED_RECORDS_TABLE": tables.shared_records.table_name,
                "STEPWARD_LANES_QUEUE": queues.order_events.queue.queue_url,
                **({"STEPWARD_LEDGER_CUSTOMER": customer} if customer else {}),
            },
        )
        at_once = LEAST_CONCURRENCY if customer else parts.settings.ledger_concurrency
        # One at a time: a ledger takes as much of the function's time as there is.
        self.consume(source, batch_size=1, max_concurrency=at_once)
        allow(self.function, tables.shared_records, READ_ONE, WRITE)
        parts.let_reject(self.function)
        allow_queue(self.function, queues.order_events.queue, SEND)
        parts.ledgers.grant_read(self.function)
