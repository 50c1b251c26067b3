"""The functions of the convoy: those that split ledgers, and the one that applies each order's events in order."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward_cdk.functions.function import WorkerFunction
from stepward_cdk.ledger_objects import LedgerObjects
from stepward_cdk.permissions import QUERY, READ_MANY, READ_ONE, WRITE, WRITE_MANY
from stepward_cdk.queues import Queues, WorkQueue
from stepward_cdk.settings.convoy import FIFO_BATCH
from stepward_cdk.settings.settings import LEAST_CONCURRENCY, Settings
from stepward_cdk.tables import Tables
from stepward_cdk.watching.alerts import Alerts


class Convoy(Construct):
    """The ledger processors and the convoy; `code` is the bundle that all functions share.

    None of them is in a cycle: what a ledger brings passes the ledger processor and the convoy once each on its way to
    the Scheduler, and a ledger that takes several runs stays one message. So Lambda's guard against loops stays on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queues: Queues,
        tables: Tables,
        objects: LedgerObjects,
        alerts: Alerts,
        settings: Settings,
        code: lambda_.Code,
    ) -> None:
        super().__init__(scope, construct_id)
        self._queues = queues
        self._tables = tables
        self._objects = objects
        self._alerts = alerts
        self._settings = settings
        self._code = code
        self.convoy = self._make_convoy()
        everybodys = self._make_ledger("Ledger", queues.ledgers, at_once=settings.ledger_concurrency)
        own = {f"ledger-{name}": self._make_ledger_of(name, work) for name, work in queues.customers.items()}
        self.ledgers = {"ledger": everybodys} | own

    @property
    def by_name(self) -> Mapping[str, lambda_.Function]:
        """All of them, by the names that alarms and dashboard use."""
        return {"convoy": self.convoy, **self.ledgers}

    def _make_convoy(self) -> lambda_.Function:
        queues, tables = self._queues, self._tables
        worker = self._worker(
            "Convoy",
            handler="convoy.handler",
            source=queues.order_events,
            environment={
                "STEPWARD_ORDERS_TABLE": tables.orders.table_name,
                "STEPWARD_TASKS_TABLE": tables.tasks.table_name,
                "STEPWARD_LANES_TABLE": tables.lanes.table_name,
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
                "STEPWARD_FINISHED_DAYS": str(self._settings.finished_days),
                **self._alerts.addresses,
                **self._settings.convoy.rules,
                **self._settings.replies.environment,
            },
        )
        worker.consume(queues.order_events, batch_size=FIFO_BATCH, max_concurrency=self._settings.engine_concurrency)
        # A create submits the order as Submission would; a delete changes the task, and never asks an agent.
        tables.orders.grant(worker.function, READ_ONE, WRITE)
        tables.tasks.grant(worker.function, READ_MANY, READ_ONE, WRITE)
        tables.lanes.grant(worker.function, QUERY, READ_ONE, WRITE, WRITE_MANY)
        tables.shared_records.grant(worker.function, READ_ONE, WRITE)
        queues.scheduler.queue.grant_send_messages(worker.function)
        self._alerts.may_tell(worker.function)
        return worker.function

    def _make_ledger_of(self, customer: str, source: WorkQueue) -> lambda_.Function:
        only = {"STEPWARD_LEDGER_CUSTOMER": customer}
        return self._make_ledger(f"Ledger-{customer}", source, at_once=LEAST_CONCURRENCY, only=only)

    def _make_ledger(
        self, construct_id: str, source: WorkQueue, *, at_once: int, only: Mapping[str, str] | None = None
    ) -> lambda_.Function:
        tables = self._tables
        worker = self._worker(
            construct_id,
            handler="ledger.handler",
            source=source,
            environment={"STEPWARD_LEDGERS_BUCKET": self._objects.bucket.bucket_name, **(only or {})},
        )
        # One at a time: a ledger takes as much of the function's time as there is.
        worker.consume(source, batch_size=1, max_concurrency=at_once)
        tables.shared_records.grant(worker.function, READ_ONE, WRITE)
        self._queues.order_events.queue.grant_send_messages(worker.function)
        self._objects.may_read(worker.function)
        return worker.function

    def _worker(
        self, construct_id: str, *, handler: str, source: WorkQueue, environment: Mapping[str, str]
    ) -> WorkerFunction:
        told = {
            "STEPWARD_SHARED_RECORDS_TABLE": self._tables.shared_records.table_name,
            "STEPWARD_REJECTS_TABLE": self._tables.rejects.table_name,
            "STEPWARD_LANES_QUEUE": self._queues.order_events.queue.queue_url,
        }
        worker = WorkerFunction(
            self,
            construct_id,
            handler=handler,
            timeout=source.consumer_timeout,
            environment={**told, **environment},
            code=self._code,
            settings=self._settings,
        )
        self._tables.rejects.grant(worker.function, WRITE)
        return worker
