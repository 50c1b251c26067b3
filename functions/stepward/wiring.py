"""The composition root: the one place that reads the clock and joins use cases to their adapters."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger, Metrics
from botocore.config import Config as ClientConfig

from stepward.adapters.dynamodb.controls import DynamoControls
from stepward.adapters.dynamodb.orders import DynamoOrders
from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.store import DynamoTaskStore
from stepward.adapters.dynamodb.tables import Access, ControlItem, OrderItem, PlanItem, RejectItem, TaskItem, bound
from stepward.adapters.events import EventBus
from stepward.adapters.lambda_batch import BatchWorker
from stepward.adapters.notices import CheckedNotices, SqsReplyQueues
from stepward.adapters.operators import OperatorAlerts
from stepward.adapters.sns import SnsTopic
from stepward.adapters.sqs import SqsQueues
from stepward.adapters.sqs_visibility import SqsVisibility
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.alerting import Throttled
from stepward.app.breakers import Breakers, Watch
from stepward.app.guarding import Guard
from stepward.app.intake import Intake
from stepward.app.leasing import Leases
from stepward.app.scheduling import Schedule
from stepward.app.serving import Serve
from stepward.app.submission import Submit
from stepward.app.supervision import Supervise
from stepward.app.trail import Trail
from stepward.app.transition import Transition
from stepward.config import Config
from stepward.domain.workflow import Workflow
from stepward.wire.order import OrderMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


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
        reply_queues=parts.config.reply_queues,
    )
    return parts.worker(submit.handle)


def scheduler(env: Mapping[str, str]) -> BatchWorker:
    """The function that runs the steps of every task in their order."""
    parts = _Parts(Config(env))
    store = parts.store(parts.config.orders_table)
    queues = parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues)
    transition = parts.transition("scheduler", store, queues)
    telling = replace(transition, notices=parts.notices())
    return parts.worker(Schedule(telling, Trail(parts.controls())).handle)


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
        guard=Guard(parts.config.agent, Breakers(parts.controls()), parts.telemetry, parts.config.breaker, new_id),
    )
    return parts.worker(serve.handle, together=True, visibility=SqsVisibility(parts.sqs(), parts.config.requests_queue))


def supervisor(env: Mapping[str, str]) -> tuple[Supervise, PowertoolsTelemetry]:
    """The function that finds what is overdue, and the telemetry to flush after it."""
    parts = _Parts(Config(env))
    queues = parts.queues(scheduler=parts.config.scheduler_queue, agents=parts.config.agent_queues)
    transition = parts.transition("supervisor", parts.store(), queues)
    watch = Watch(Breakers(parts.controls()), parts.config.agent_queues, parts.telemetry)
    return Supervise(transition, parts.leases(transition.instance), watch, parts.config.shards), parts.telemetry


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


def shared_controls(access: Access, table: str) -> DynamoControls:
    """The small shared records in the table of this name."""
    return DynamoControls(bound(ControlItem, table, access), new_id)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the functions have in common, made for one of them."""

    config: Config
    telemetry: PowertoolsTelemetry = field(default_factory=lambda: PowertoolsTelemetry(Logger(), Metrics()))
    access: Access = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "access", Access(self.config.region))

    def worker(
        self, handle: Callable[[str], None], *, together: bool = False, visibility: SqsVisibility | None = None
    ) -> BatchWorker:
        intake = Intake(handle, kept_rejects(self.access, self.config.rejects_table), self.telemetry)
        return BatchWorker(intake, self.telemetry, together, visibility)

    def store(self, orders: str | None = None) -> DynamoTaskStore:
        store = task_store(self.access, orders=orders, tasks=self.config.tasks_table, shards=self.config.shards)
        return replace(store, keep_finished=self.config.keep_finished)

    def queues(self, scheduler: str = "", responses: str = "", agents: Mapping[str, str] | None = None) -> SqsQueues:
        lanes = self.config.agent_lanes if agents else {}
        return SqsQueues(self.sqs(), scheduler, responses, agents or {}, self.config.backlog, lanes)

    def sqs(self) -> SQSClient:
        return boto3.client("sqs", region_name=self.config.region, config=self._client_config)

    def notices(self) -> CheckedNotices:
        # A submitter's queue is not worth waiting for.
        config = self._client_config.merge(ClientConfig(read_timeout=2))

        @cache
        def client(region: str) -> SQSClient:
            return boto3.client("sqs", region_name=region or self.config.region, config=config)

        return CheckedNotices(SqsReplyQueues(client), self.config.reply_queues, self.telemetry)

    def controls(self) -> DynamoControls:
        return shared_controls(self.access, self.config.controls_table)

    def leases(self, holder: str) -> Leases:
        length, skew_margin = self.config.lease_length, self.config.timing.skew_margin
        return Leases(self.controls(), self.telemetry, holder, length, skew_margin, now)

    def alerts(self) -> Throttled:
        sns = boto3.client("sns", region_name=self.config.region, config=self._client_config)
        events = boto3.client("events", region_name=self.config.region, config=self._client_config)
        both = OperatorAlerts(SnsTopic(sns, self.config.alerts_topic), EventBus(events, self.config.event_bus))
        return Throttled(both, self.controls(), now)

    def transition(self, role: str, store: DynamoTaskStore, queues: SqsQueues) -> Transition:
        return Transition(
            store=store,
            queues=queues,
            alerts=self.alerts(),
            telemetry=self.telemetry,
            timing=self.config.timing,
            instance=f"{role}-{new_id()}",
            now=now,
        )

    @property
    def _client_config(self) -> ClientConfig:
        retries: Any = {"mode": "standard", "total_max_attempts": 3}
        return ClientConfig(connect_timeout=1, read_timeout=5, retries=retries)
