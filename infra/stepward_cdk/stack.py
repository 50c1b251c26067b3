"""The stack of a deployment, composed of a few constructs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import CfnOutput, Duration, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward.domain.deployment import Deployment
from stepward.domain.workflow.application import App
from stepward_cdk.callback_key import callback_key
from stepward_cdk.compliance import acknowledge
from stepward_cdk.functions.functions import Functions
from stepward_cdk.functions.worker import Parts
from stepward_cdk.objects import Objects
from stepward_cdk.queues import Queues, WorkQueue
from stepward_cdk.settings.agent_needs import AgentNeeds, agents_of, check_addresses
from stepward_cdk.settings.settings import OLDEST_LEDGER_S, OLDEST_MESSAGE_S, REJECT_DAYS, Settings
from stepward_cdk.tables import Tables
from stepward_cdk.watching.alarms import Alarms
from stepward_cdk.watching.alerts import Alerts
from stepward_cdk.watching.dashboard import Dashboard
from stepward_cdk.watching.watched import Watched


class StepwardStack(Stack):
    """Everything that `app` needs to run; `code` is the bundle that all functions share.

    By `functions` a project grants more: `table.grant_read_data(stack.functions.agents["stock"].function)`.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, app: App, settings: Settings, code: lambda_.Code
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=settings.stack,
            description="Stepward: " + ", ".join(f"{it.workflow} version {it.version}" for it in app.plans().values()),
            termination_protection=settings.lasting,
            env=Environment(region=settings.region) if settings.region else None,
        )
        # A deployment is compared with these before it changes anything.
        self.template_options.metadata = {"Stepward": settings.plain, "StepwardWorkflow": _described(app)}
        check_addresses(app, settings.service_urls)
        agents = agents_of(app, settings)
        parts = Parts(
            code=code,
            settings=settings,
            queues=Queues(self, "Queues", agents=agents, settings=settings),
            tables=Tables(self, "Tables", settings=settings),
            ledgers=Objects(self, "Ledgers", settings=settings, days=settings.ledger_days),
            rejects=Objects(self, "Rejects", settings=settings, days=REJECT_DAYS),
            alerts=Alerts(self, "Alerts", settings=settings, workflow=app.keys.default),
            callback_key=callback_key(self, "CallbackKey", app=app, settings=settings),
            children=app.has_children,
        )
        self.functions = functions = Functions(self, "Functions", agents=agents, parts=parts)
        watched = _watched(agents, parts, functions)
        alarms = Alarms(self, "Alarms", watched=watched, alerts=parts.alerts).all
        Dashboard(self, "Board", plans=app.plans(settings.complete_within), watched=watched, alarms=alarms)
        self._output_queues(parts.queues, settings.ledger_customers)
        self._output_tables(parts)
        self._output_functions(functions)
        keys = app.keys
        named = {"names": list(keys.workflows), "perCustomer": sorted(keys.per_customer), "types": list(keys.types)}
        self._output({"Workflows": self.to_json_string(named)})
        self._output({"AlertsTopicArn": parts.alerts.topic.topic_arn, "PagesTopicArn": parts.alerts.pages.topic_arn})
        since = {"CustomerIndexSince": settings.customer_index_since} if settings.customer_index_since else {}
        self._output({"Shards": str(settings.shards), "WhoHears": _who_hears(settings), **since})
        acknowledge(functions=functions, parts=parts)

    def _output_queues(self, queues: Queues, taking: Sequence[str]) -> None:
        customers = {name: queues.customers[name].queue.queue_url for name in taking}
        agents = {name: work.queue.queue_url for name, work in queues.agents.items()}
        dead_letters = {
            name: {"source": work.queue.queue_url, "dead": work.dead.queue_url} for name, work in queues.by_name.items()
        }
        self._output(
            {
                "OrdersQueueUrl": queues.orders.queue.queue_url,
                "OrdersQueueArn": queues.orders.queue.queue_arn,
                "LedgersQueueUrl": queues.ledgers.queue.queue_url,
                "CustomerLedgerQueueUrls": self.to_json_string(customers),
                "OrderEventsQueueUrl": queues.order_events.queue.queue_url,
                "SchedulerQueueUrl": queues.scheduler.queue.queue_url,
                "ResponsesQueueUrl": queues.responses.queue.queue_url,
                "AgentQueueUrls": self.to_json_string(agents),
                "DeadLetterQueueUrls": self.to_json_string(dead_letters),
            }
        )

    def _output_tables(self, parts: Parts) -> None:
        tables = parts.tables
        self._output(
            {
                "OrdersTableName": tables.orders.table_name,
                "TasksTableName": tables.tasks.table_name,
                "LanesTableName": tables.lanes.table_name,
                "RejectsTableName": tables.rejects.table_name,
                "SharedRecordsTableName": tables.shared_records.table_name,
                "LedgersBucketName": parts.ledgers.bucket.bucket_name,
                "RejectsBucketName": parts.rejects.bucket.bucket_name,
            }
        )

    def _output_functions(self, functions: Functions) -> None:
        agents = {name: agent.function.function_name for name, agent in functions.agents.items()}
        self._output(
            {
                "SupervisorFunctionName": functions.supervisor.function.function_name,
                "AgentFunctionNames": self.to_json_string(agents),
            }
        )

    def _output(self, outputs: Mapping[str, str]) -> None:
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _described(app: App) -> Mapping[str, object]:
    """What the agents serve, what of it no new order asks for, and what makes the keys of orders."""
    served, keys = {agent.name: sorted(app.operations(agent.name)) for agent in app.agents}, app.keys
    made = {"perCustomer": sorted(keys.per_customer), "workflows": list(keys.workflows)}
    return {"served": served, "draining": app.drained, **made}


def _who_hears(settings: Settings) -> str:
    """What a person has to do before alerts arrive; shown at the end of a deployment."""
    mails = sorted({mail for mail in settings.subscribers if mail})
    if not mails:
        return "Nobody is alerted: subscribe somebody to AlertsTopicArn and PagesTopicArn"
    return f"Once each subscription is confirmed in the mail that AWS sent to it: {', '.join(mails)}"


def _watched(agents: Sequence[AgentNeeds], parts: Parts, functions: Functions) -> Watched:
    queues = parts.queues.by_name
    return Watched(
        queues=queues,
        mappings=_mappings(queues, functions),
        oldest_s=_longest_waits(agents, parts.queues),
        dead={name: work.dead for name, work in queues.items()} | {"wake-up": functions.supervisor.wake_up.dead},
        functions=functions.by_name,
        ledgers=list(functions.ledgers),
        agents=[agent.name for agent in agents],
        silence=Duration.minutes(parts.settings.silent_minutes),
        throttles=_throttles(parts.tables),
        deployment=Deployment(parts.settings.stack, parts.settings.region),
        expressions=parts.settings.platform == "aws",
        answered_later=parts.callback_key is not None,
        full=parts.settings.full_watching,
    )


def _mappings(queues: Mapping[str, WorkQueue], functions: Functions) -> Mapping[str, str]:
    engine = [worker for worker in functions.workers.values() if worker not in functions.agents.values()]
    taken = {work: mapping for worker in engine for work, mapping in worker.takes.items()}
    return {name: taken[work] for name, work in queues.items() if work in taken}


def _throttles(tables: Tables) -> Mapping[str, cloudwatch.Metric]:
    written = {"orders": tables.orders, "tasks": tables.tasks, "lanes": tables.lanes, "shared": tables.shared_records}
    writes = {name: table.metric("WriteThrottleEvents", statistic="Sum") for name, table in written.items()}
    return {**writes, "shared, reads": tables.shared_records.metric("ReadThrottleEvents", statistic="Sum")}


def _longest_waits(agents: Sequence[AgentNeeds], queues: Queues) -> Mapping[str, int]:
    """How many seconds a message of each queue may wait, by the queue's name."""
    steps = {name: agent.longest_s for agent in agents for name in agent.queue_names}
    longest = steps | dict.fromkeys(queues.of_ledgers, OLDEST_LEDGER_S)
    return {name: max(OLDEST_MESSAGE_S, longest.get(name, 0)) for name in queues.by_name}
