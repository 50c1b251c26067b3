"""A Lambda function with its log, and what makes it take messages from a queue."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.queues import WorkQueue, removal
from infra.settings import ARCHITECTURE, LOG_RETENTION, MEMORY_MB, RUNTIME, Settings


class WorkerFunction(Construct):
    """One function of the deployment.

    `in_cycle` says that it belongs to the Scheduler-Agent cycle, which Lambda would take for a runaway loop after
    about 16 messages; the engine's own bound per task takes the place of Lambda's.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        code: lambda_.Code,
        timeout: Duration,
        environment: Mapping[str, str],
        settings: Settings,
        in_cycle: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        log = logs.LogGroup(self, "Log", retention=logs.RetentionDays[LOG_RETENTION], removal_policy=removal(settings))
        self.function = lambda_.Function(
            self,
            "Function",
            code=code,
            handler=handler,
            runtime=lambda_.Runtime(f"python{RUNTIME}", lambda_.RuntimeFamily.PYTHON),
            architecture=lambda_.Architecture.custom(ARCHITECTURE),
            memory_size=MEMORY_MB,
            timeout=timeout,
            environment=dict(environment),
            log_group=log,
            tracing=lambda_.Tracing.ACTIVE,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if in_cycle else lambda_.RecursiveLoop.TERMINATE,
        )

    def consume(self, work: WorkQueue, *, batch_size: int, max_concurrency: int) -> None:
        """Take messages from `work`, and give back only those that failed."""
        self.function.add_event_source(
            sources.SqsEventSource(
                work.queue,
                batch_size=batch_size,
                max_concurrency=max_concurrency,
                report_batch_item_failures=True,
            )
        )
