"""A Lambda function with its log and its queues, and what all functions share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import CfnResource, Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from constructs import Construct

from stepward_cdk.callback_key import CallbackKey
from stepward_cdk.objects import Objects
from stepward_cdk.permissions import WRITE, allow
from stepward_cdk.queues import Queues, WorkQueue, removal
from stepward_cdk.settings.settings import ARCHITECTURE, LOG_RETENTION, MEMORY_MB, RUNTIME, Settings
from stepward_cdk.tables import Tables
from stepward_cdk.watching.alerts import Alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What all functions are made of and connected to; `code` is the bundle that they share."""

    code: lambda_.Code
    settings: Settings
    queues: Queues
    tables: Tables
    ledgers: Objects
    rejects: Objects
    """The bodies of rejects that are too large for a row."""
    alerts: Alerts
    callback_key: CallbackKey | None = None
    children: bool = False
    """Whether an order may be a step of another one; the Scheduler submits it."""

    @property
    def for_orders(self) -> Mapping[str, str]:
        """The variables of those that submit or change orders: Submission, Scheduler and convoy."""
        return {
            "STEPWARD_ORDERS_TABLE": self.tables.orders.table_name,
            "STEPWARD_TASKS_TABLE": self.tables.tasks.table_name,
            "STEPWARD_SCHEDULER_QUEUE": self.queues.scheduler.queue.queue_url,
            **self.for_rejecting,
        }

    @property
    def for_rejecting(self) -> Mapping[str, str]:
        """The variables of those that take messages: what they reject, they keep."""
        return {
            "STEPWARD_REJECTS_TABLE": self.tables.rejects.table_name,
            "STEPWARD_REJECTS_BUCKET": self.rejects.bucket.bucket_name,
        }

    def let_reject(self, function: lambda_.Function) -> None:
        """Let a function keep what it rejects; only people read that."""
        allow(function, self.tables.rejects, WRITE)
        self.rejects.grant_put(function)

    @property
    def for_asking(self) -> Mapping[str, str]:
        """The variables of those that know the agents' queues: Submission, Scheduler and Supervisor."""
        return {
            "STEPWARD_AGENTS": ",".join(self.queues.agents),
            "STEPWARD_PRIORITY_AGENTS": ",".join(self.queues.priority),
            "STEPWARD_AGENT_PREFIX": self.settings.queue_name("agent-"),
        }

    @property
    def for_deciding(self) -> Mapping[str, str]:
        """The variables of both functions that decide about tasks: Scheduler and Supervisor."""
        return {
            "STEPWARD_SHARED_RECORDS_TABLE": self.tables.shared_records.table_name,
            **self.for_asking,
            "STEPWARD_FINISHED_DAYS": str(self.settings.finished_days),
            **self.alerts.addresses,
        }


class Worker(Construct):
    """One function of the deployment.

    `in_cycle` marks the Scheduler-Agent cycle, and what sends a message anew: Lambda would take them for runaway loops
    after about 16 messages. The engine bounds both: per task, and by the pause before a message is sent anew.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        parts: Parts,
        handler: str,
        timeout: Duration,
        environment: Mapping[str, str],
        in_cycle: bool = False,
        memory_mb: int = MEMORY_MB,
    ) -> None:
        super().__init__(scope, construct_id)
        settings = parts.settings
        self.takes: dict[WorkQueue, str] = {}
        log = logs.LogGroup(self, "Log", retention=logs.RetentionDays[LOG_RETENTION], removal_policy=removal(settings))
        self.function = lambda_.Function(
            self,
            "Function",
            code=parts.code,
            handler=handler,
            runtime=lambda_.Runtime(f"python{RUNTIME}", lambda_.RuntimeFamily.PYTHON),
            architecture=lambda_.Architecture.custom(ARCHITECTURE),
            memory_size=memory_mb,
            timeout=timeout,
            environment=_for_all(settings) | dict(environment),
            log_group=log,
            # Lambda's own lines about runs that went well would be a quarter of the log, and each line is billed.
            # Only a JSON log can be filtered; the functions' own lines are JSON already.
            logging_format=lambda_.LoggingFormat.JSON,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            tracing=lambda_.Tracing.ACTIVE if settings.tracing else lambda_.Tracing.DISABLED,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if in_cycle else lambda_.RecursiveLoop.TERMINATE,
        )

    def consume(self, work: WorkQueue, *, batch_size: int, max_concurrency: int) -> None:
        """Take messages from `work`, and return only those that failed, which Lambda counts."""
        source = sources.SqsEventSource(
            work.queue,
            batch_size=batch_size,
            max_concurrency=max_concurrency,
            report_batch_item_failures=True,
            metrics_config=lambda_.MetricsConfig(metrics=[lambda_.MetricType.EVENT_COUNT]),
        )
        self.function.add_event_source(source)
        self.takes[work] = source.event_source_mapping_id

    def update_after(self, other: Worker) -> None:
        """Have the function's code and settings updated after those of `other`.

        The functions alone depend on each other: what else belongs to them could close a circle.
        """
        _resource(self.function).add_resource_dependency(_resource(other.function))


def _resource(function: lambda_.Function) -> CfnResource:
    resource = function.node.default_child
    assert isinstance(resource, CfnResource)  # noqa: S101 - what CDK makes a Function of
    return resource


def _for_all(settings: Settings) -> dict[str, str]:
    return {
        "STEPWARD_SHARDS": str(settings.shards),
        "STEPWARD_COMPLETE_WITHIN_MS": str(settings.complete_within_ms),
        "STEPWARD_CLAIM_WITHIN_MS": str(settings.claim_within_ms),
        "STEPWARD_SKEW_MARGIN_MS": str(settings.skew_margin_ms),
        "STEPWARD_OUTAGE_AFTER_MS": str(settings.outage_after_ms),
        "STEPWARD_WATCHING": settings.watching,
        "POWERTOOLS_SERVICE_NAME": settings.stack,
        "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
