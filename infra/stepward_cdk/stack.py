"""The stack of a deployment, composed of a few constructs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import CfnOutput, Duration, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward.domain.workflow.definition import Workflow
from stepward_cdk.compliance import acknowledge
from stepward_cdk.functions.agent_needs import AgentNeeds, agents_of
from stepward_cdk.functions.convoy import Convoy
from stepward_cdk.functions.supervisor_schedule import WakeUp
from stepward_cdk.functions.workers import Workers
from stepward_cdk.ledger_objects import LedgerObjects
from stepward_cdk.queues import Queues
from stepward_cdk.settings.settings import OLDEST_LEDGER_S, OLDEST_MESSAGE_S, Settings
from stepward_cdk.tables import Tables
from stepward_cdk.watching.alarms import Alarms
from stepward_cdk.watching.alerts import Alerts
from stepward_cdk.watching.dashboard import Dashboard
from stepward_cdk.watching.watched import Watched


class StepwardStack(Stack):
    """Everything that one workflow needs to run; `code` is the bundle that all functions share."""

    def __init__(
        self, scope: Construct, construct_id: str, *, workflow: Workflow, settings: Settings, code: lambda_.Code
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
        alerts = Alerts(self, "Alerts", settings=settings)
        tables = Tables(self, "Tables", settings=settings)
        queues = Queues(self, "Queues", agents=needs, settings=settings)
        workers = Workers(
            self, "Workers", agents=needs, queues=queues, tables=tables, alerts=alerts, settings=settings, code=code
        )
        objects = LedgerObjects(self, "Ledgers", settings=settings)
        convoy = Convoy(
            self, "Convoy", queues=queues, tables=tables, objects=objects, alerts=alerts, settings=settings, code=code
        )
        wake_up = WakeUp(self, "WakeUp", supervisor=workers.supervisor, settings=settings)
        watched = Watched(
            queues=queues.by_name,
            oldest_s=_longest_waits(needs, queues),
            dead={name: work.dead for name, work in queues.by_name.items()} | {"wake-up": wake_up.dead},
            functions={**workers.by_name, **convoy.by_name},
            ledgers=list(convoy.ledgers),
            agents=[agent.name for agent in needs],
            silence=Duration.minutes(settings.silent_minutes),
        )
        Alarms(self, "Alarms", watched=watched, topic=alerts.topic)
        Dashboard(self, "Board", plan=workflow.plan(settings.complete_within), watched=watched)
        self._tell_queues(queues)
        self._tell_tables(tables, objects)
        self._tell_functions(workers)
        self._tell({"AlertsTopicArn": alerts.topic.topic_arn, "Shards": str(settings.shards)})
        acknowledge(workers=workers, convoy=convoy, tables=tables, objects=objects, wake_up=wake_up, settings=settings)

    def _tell_queues(self, queues: Queues) -> None:
        customers = {name: work.queue.queue_url for name, work in queues.customers.items()}
        agents = {name: work.queue.queue_url for name, work in queues.agents.items()}
        dead_letters = {
            name: {"source": work.queue.queue_url, "dead": work.dead.queue_url} for name, work in queues.by_name.items()
        }
        self._tell(
            {
                "OrdersQueueUrl": queues.orders.queue.queue_url,
                "LedgersQueueUrl": queues.ledgers.queue.queue_url,
                "CustomerLedgerQueueUrls": self.to_json_string(customers),
                "OrderEventsQueueUrl": queues.order_events.queue.queue_url,
                "SchedulerQueueUrl": queues.scheduler.queue.queue_url,
                "ResponsesQueueUrl": queues.responses.queue.queue_url,
                "AgentQueueUrls": self.to_json_string(agents),
                "DeadLetterQueueUrls": self.to_json_string(dead_letters),
            }
        )

    def _tell_tables(self, tables: Tables, objects: LedgerObjects) -> None:
        self._tell(
            {
                "OrdersTableName": tables.orders.table_name,
                "TasksTableName": tables.tasks.table_name,
                "LanesTableName": tables.lanes.table_name,
                "RejectsTableName": tables.rejects.table_name,
                "SharedRecordsTableName": tables.shared_records.table_name,
                "LedgersBucketName": objects.bucket.bucket_name,
            }
        )

    def _tell_functions(self, workers: Workers) -> None:
        agents = {name: function.function_name for name, function in workers.agents.items()}
        self._tell(
            {
                "SupervisorFunctionName": workers.supervisor.function_name,
                "AgentFunctionNames": self.to_json_string(agents),
            }
        )

    def _tell(self, outputs: Mapping[str, str]) -> None:
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _longest_waits(agents: Sequence[AgentNeeds], queues: Queues) -> Mapping[str, int]:
    """How many seconds a message of each queue may wait, by the queue's name."""
    steps = {name: agent.longest_s for agent in agents for name in agent.queue_names}
    longest = steps | dict.fromkeys(queues.of_ledgers, OLDEST_LEDGER_S)
    return {name: max(OLDEST_MESSAGE_S, longest.get(name, 0)) for name in queues.by_name}
