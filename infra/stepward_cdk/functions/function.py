"""A Lambda function with its log, and what makes it take messages from a queue."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from constructs import Construct

from stepward_cdk.queues import WorkQueue, removal
from stepward_cdk.settings.settings import ARCHITECTURE, LOG_RETENTION, MEMORY_MB, RUNTIME, Settings


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
            environment=_for_all(settings) | dict(environment),
            log_group=log,
            # What Lambda says of each run that went well would be a third of the log, and every line that is written
            # is billed. To be filtered at all the log has to be JSON, which the functions' own lines are already.
            logging_format=lambda_.LoggingFormat.JSON,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            tracing=lambda_.Tracing.ACTIVE if settings.tracing else lambda_.Tracing.DISABLED,
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


def _for_all(settings: Settings) -> dict[str, str]:
    return {
        "STEPWARD_SHARDS": str(settings.shards),
        "STEPWARD_COMPLETE_WITHIN_MS": str(settings.complete_within_ms),
        "STEPWARD_CLAIM_WITHIN_MS": str(settings.claim_within_ms),
        "STEPWARD_SKEW_MARGIN_MS": str(settings.skew_margin_ms),
        "STEPWARD_OUTAGE_AFTER_MS": str(settings.outage_after_ms),
        "POWERTOOLS_SERVICE_NAME": "stepward",
        "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
