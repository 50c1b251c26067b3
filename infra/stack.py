"""The stack of a deployment, composed of a few constructs."""

from __future__ import annotations

from aws_cdk import CfnOutput, Duration, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.agents import agents_of
from infra.alarms import Alarms
from infra.alerts import Alerts
from infra.compliance import acknowledge
from infra.dashboard import Dashboard
from infra.queues import Queues
from infra.settings import OLDEST_MESSAGE_S, Settings
from infra.tables import Tables
from infra.wakeup import WakeUp
from infra.watched import Watched
from infra.workers import Workers
from stepward.domain.workflow import Workflow


class StepwardStack(Stack):
    """Everything that one workflow needs to run; `code` is the bundle that all functions share."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workflow: Workflow,
        settings: Settings,
        code: lambda_.Code,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=settings.stack,
            description=f"Stepward: workflow {workflow.name}, version {workflow.version}",
            termination_protection=settings.lasting,
            env=Environment(region=settings.region) if settings.region else None,
        )
        needs = agents_of(workflow, settings)
        alerts = Alerts(self, "Alerts", settings=settings).topic
        tables = Tables(self, "Tables", settings=settings)
        queues = Queues(self, "Queues", agents=needs, settings=settings)
        workers = Workers(
            self, "Workers", agents=needs, queues=queues, tables=tables, alerts=alerts, settings=settings, code=code
        )
        wake_up = WakeUp(self, "WakeUp", supervisor=workers.supervisor, settings=settings)
        longest = {name: agent.longest_s for agent in needs for name in agent.queue_names}
        watched = Watched(
            queues=queues.by_name,
            oldest_s={name: max(OLDEST_MESSAGE_S, longest.get(name, 0)) for name in queues.by_name},
            dead={name: work.dead for name, work in queues.by_name.items()} | {"wake-up": wake_up.dead},
            functions=workers.by_name,
            agents=[agent.name for agent in needs],
            silence=Duration.minutes(settings.silent_minutes),
        )
        Alarms(self, "Alarms", watched=watched, topic=alerts)
        Dashboard(self, "Board", plan=workflow.plan(settings.complete_within), watched=watched)
        self._tell(tables=tables, queues=queues, workers=workers, topic_arn=alerts.topic_arn, shards=settings.shards)
        acknowledge(workers=workers, tables=tables, wake_up=wake_up, settings=settings)

    def _tell(self, *, tables: Tables, queues: Queues, workers: Workers, topic_arn: str, shards: int) -> None:
        agent_queues = {name: work.queue.queue_url for name, work in queues.agents.items()}
        agent_functions = {name: function.function_name for name, function in workers.agents.items()}
        dead_letters = {
            name: {"source": work.queue.queue_url, "dead": work.dead.queue_url} for name, work in queues.by_name.items()
        }
        outputs = {
            "OrdersQueueUrl": queues.orders.queue.queue_url,
            "SchedulerQueueUrl": queues.scheduler.queue.queue_url,
            "ResponsesQueueUrl": queues.responses.queue.queue_url,
            "AgentQueueUrls": self.to_json_string(agent_queues),
            "OrdersTableName": tables.orders.table_name,
            "TasksTableName": tables.tasks.table_name,
            "RejectsTableName": tables.rejects.table_name,
            "ControlsTableName": tables.controls.table_name,
            "DeadLetterQueueUrls": self.to_json_string(dead_letters),
            "AlertsTopicArn": topic_arn,
            "SupervisorFunctionName": workers.supervisor.function_name,
            "AgentFunctionNames": self.to_json_string(agent_functions),
            "Shards": str(shards),
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)
