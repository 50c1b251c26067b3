"""The composition root: the one place that reads the clock and joins use cases to their adapters."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from botocore.config import Config as ClientConfig

from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access, OrderItem, PlanItem, RejectItem, TaskItem, bound
from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.sns import SnsAlerts
from stepward.adapters.sqs import SqsQueues
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.transition import Transition
from stepward.config import Config
from stepward.domain.workflow import Workflow
from stepward.wire.order import OrderMessage


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """A name that no other write or instance has."""
    return secrets.token_hex(6)


def submission(env: Mapping[str, str], workflow: Workflow, schema: type[OrderMessage]) -> BatchWorker:
    """The function that accepts order messages of `schema` and freezes `workflow` with each."""
    parts = _Parts(Config(env))
    submit = Submit(
        store=parts.store(parts.config.orders_table),
        queues=parts.queues(scheduler=parts.config.scheduler_queue),
        telemetry=parts.telemetry,
        schema=schema,
        plan=workflow.plan(parts.config.complete_within),
        timing=parts.config.timing,
        now=now,
    )
    return parts.worker(submit.handle)


def scheduler(env: Mapping[str, str]) -> BatchWorker:
    """The function that runs the steps of every task in their order."""
    parts = _Parts(Config(env))
    store = parts.store(parts.config.orders_table)
    transition = parts.transition("scheduler", store, parts.queues(agents=parts.config.agent_queues))
    return parts.worker(Schedule(transition).handle)


def agent(env: Mapping[str, str], workflow: Workflow) -> BatchWorker:
    """The function that serves one agent of `workflow`."""
    parts = _Parts(Config(env))
    serve = Serve(
        operations=workflow.operations(parts.config.agent),
        queues=parts.queues(responses=parts.config.responses_queue),
        telemetry=parts.telemetry,
        now=now,
        sleep=time.sleep,  # noqa: TID251 - short waits between the calls of one attempt, bounded by complete-by
        jitter=random.random,
    )
    return parts.worker(serve.handle, together=True)


def supervisor(env: Mapping[str, str]) -> tuple[Supervise, PowertoolsTelemetry]:
    """The function that finds what is overdue, and the telemetry to flush after it."""
    parts = _Parts(Config(env))
    queues = parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues)
    transition = parts.transition("supervisor", parts.store(), queues)
    return Supervise(transition, parts.config.shards), parts.telemetry


def task_store(access: Access, *, orders: str | None, tasks: str, shards: int) -> DynamoTaskStore:
    """The state store on the tables of these names."""
    return DynamoTaskStore(
        orders=DynamoOrders(bound(OrderItem, orders, access)) if orders else None,
        tasks=bound(TaskItem, tasks, access),
        plans=bound(PlanItem, tasks, access),
        connection=access.connection,
        shards=shards,
        new_id=new_id,
    )


def kept_rejects(access: Access, table: str) -> DynamoRejects:
    """The rejects in the table of this name."""
    return DynamoRejects(bound(RejectItem, table, access), now)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the functions have in common, made for one of them."""

    config: Config
    telemetry: PowertoolsTelemetry = field(default_factory=lambda: PowertoolsTelemetry(Logger(), Metrics()))
    access: Access = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "access", Access(self.config.region))

    def worker(self, handle: Callable[[str], None], *, together: bool = False) -> BatchWorker:
        rejects = kept_rejects(self.access, self.config.rejects_table)
        return BatchWorker(Intake(handle, rejects, self.telemetry), self.telemetry, together=together)

    def store(self, orders: str | None = None) -> DynamoTaskStore:
        return task_store(self.access, orders=orders, tasks=self.config.tasks_table, shards=self.config.shards)

    def queues(self, scheduler: str = "", responses: str = "", agents: Mapping[str, str] | None = None) -> SqsQueues:
        sqs = boto3.client("sqs", region_name=self.config.region, config=self._client_config)
        return SqsQueues(sqs, scheduler, responses, agents or {}, self.config.backlog)

    def transition(self, role: str, store: DynamoTaskStore, queues: SqsQueues) -> Transition:
        sns = boto3.client("sns", region_name=self.config.region, config=self._client_config)
        return Transition(
            store=store,
            queues=queues,
            alerts=SnsAlerts(sns, self.config.alerts_topic),
            telemetry=self.telemetry,
            timing=self.config.timing,
            instance=f"{role}-{new_id()}",
            now=now,
        )

    @property
    def _client_config(self) -> ClientConfig:
        retries: Any = {"mode": "standard", "total_max_attempts": 3}
        return ClientConfig(connect_timeout=1, read_timeout=5, retries=retries)
