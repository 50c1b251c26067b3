"""The functions of a deployment: what each reads, takes messages from, and may do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.agents import AgentNeeds
from infra.functions import WorkerFunction
from infra.queues import Queues
from infra.settings import SUPERVISOR_TIMEOUT_S, Settings
from infra.tables import Tables

READ_ONE, READ_MANY, QUERY = "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"
WRITE = "dynamodb:PutItem"  # a transaction of puts asks for it, too; nothing is ever updated in place or deleted


class Workers(Construct):
    """Submission, Scheduler, one function per agent, and Supervisor; `code` is the bundle that they share."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        agents: Iterable[AgentNeeds],
        queues: Queues,
        tables: Tables,
        alerts: sns.ITopic,
        settings: Settings,
        code: lambda_.Code,
    ) -> None:
        super().__init__(scope, construct_id)
        self._queues = queues
        self._tables = tables
        self._alerts = alerts
        self._settings = settings
        self._code = code
        self.submission = self._make_submission()
        self.scheduler = self._make_scheduler()
        self.agents = {agent.name: self._make_agent(agent) for agent in agents}
        self.supervisor = self._make_supervisor()

    @property
    def by_name(self) -> Mapping[str, lambda_.Function]:
        """All of them, by the names that alarms and dashboard use."""
        engine = {"submission": self.submission, "scheduler": self.scheduler, "supervisor": self.supervisor}
        return engine | {f"agent-{name}": function for name, function in self.agents.items()}

    def _make_submission(self) -> lambda_.Function:
        queues, tables = self._queues, self._tables
        worker = self._worker(
            "Submission",
            handler="submission.handler",
            timeout=queues.orders.consumer_timeout,
            environment={
                "STEPWARD_ORDERS_TABLE": tables.orders.table_name,
                "STEPWARD_TASKS_TABLE": tables.tasks.table_name,
                "STEPWARD_REJECTS_TABLE": tables.rejects.table_name,
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
            },
        )
        worker.consume(
            queues.orders, batch_size=self._settings.batch_size, max_concurrency=self._settings.engine_concurrency
        )
        tables.orders.grant(worker.function, READ_ONE, WRITE)  # it reads what stands in the way: duplicate or conflict
        tables.tasks.grant(worker.function, WRITE)
        tables.rejects.grant(worker.function, WRITE)
        queues.scheduler.queue.grant_send_messages(worker.function)
        return worker.function

    def _make_scheduler(self) -> lambda_.Function:
        queues, tables = self._queues, self._tables
        worker = self._worker(
            "Scheduler",
            handler="scheduler.handler",
            timeout=queues.scheduler.consumer_timeout,
            in_cycle=True,
            environment={
                "STEPWARD_ORDERS_TABLE": tables.orders.table_name,
                "STEPWARD_TASKS_TABLE": tables.tasks.table_name,
                "STEPWARD_REJECTS_TABLE": tables.rejects.table_name,
                "STEPWARD_AGENT_QUEUES": self._agent_addresses,
                "STEPWARD_ALERTS_TOPIC": self._alerts.topic_arn,
            },
        )
        for source in (queues.scheduler, queues.responses):
            worker.consume(
                source, batch_size=self._settings.batch_size, max_concurrency=self._settings.engine_concurrency
            )
        for target in queues.agents.values():
            target.queue.grant_send_messages(worker.function)
        tables.orders.grant(worker.function, READ_MANY)
        tables.tasks.grant(worker.function, READ_MANY, READ_ONE, WRITE)
        tables.rejects.grant(worker.function, WRITE)
        self._alerts.grant_publish(worker.function)
        return worker.function

    def _make_agent(self, agent: AgentNeeds) -> lambda_.Function:
        requests = self._queues.agents[agent.name]
        responses = self._queues.responses.queue
        worker = self._worker(
            f"Agent-{agent.name}",
            handler="agent.handler",
            timeout=requests.consumer_timeout,
            in_cycle=True,
            environment={
                "STEPWARD_AGENT": agent.name,
                "STEPWARD_REJECTS_TABLE": self._tables.rejects.table_name,
                "STEPWARD_RESPONSES_QUEUE": responses.queue_url,
                "ORDERS_SERVICE_URLS": json.dumps(dict(self._settings.service_urls), sort_keys=True),
            },
        )
        worker.consume(requests, batch_size=agent.batch_size, max_concurrency=agent.functions_at_once)
        responses.grant_send_messages(worker.function)
        self._tables.rejects.grant(worker.function, WRITE)
        return worker.function

    def _make_supervisor(self) -> lambda_.Function:
        queues, tasks = self._queues, self._tables.tasks
        worker = self._worker(
            "Supervisor",
            handler="supervisor.handler",
            timeout=Duration.seconds(SUPERVISOR_TIMEOUT_S),
            environment={
                "STEPWARD_TASKS_TABLE": tasks.table_name,
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
                "STEPWARD_AGENT_QUEUES": self._agent_addresses,
                "STEPWARD_ALERTS_TOPIC": self._alerts.topic_arn,
            },
        )
        tasks.grant(worker.function, READ_MANY, READ_ONE, QUERY, WRITE)
        queues.scheduler.queue.grant_send_messages(worker.function)
        for requests in queues.agents.values():  # it looks how many wait; it never asks an agent for anything
            requests.queue.grant(worker.function, "sqs:GetQueueAttributes")
        self._alerts.grant_publish(worker.function)
        return worker.function

    @property
    def _agent_addresses(self) -> str:
        urls = {name: work.queue.queue_url for name, work in self._queues.agents.items()}
        return Stack.of(self).to_json_string(urls)

    def _worker(
        self,
        construct_id: str,
        *,
        handler: str,
        timeout: Duration,
        environment: Mapping[str, str],
        in_cycle: bool = False,
    ) -> WorkerFunction:
        return WorkerFunction(
            self,
            construct_id,
            handler=handler,
            timeout=timeout,
            environment={**_for_all(self._settings), **environment},
            in_cycle=in_cycle,
            code=self._code,
            settings=self._settings,
        )


def _for_all(settings: Settings) -> Mapping[str, str]:
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
