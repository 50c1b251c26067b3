"""The functions of a deployment: what each reads, takes messages from, and may do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward_cdk.functions.agent_needs import AgentNeeds
from stepward_cdk.functions.function import WorkerFunction
from stepward_cdk.permissions import QUERY, READ_MANY, READ_ONE, WRITE
from stepward_cdk.queues import Queues, WorkQueue
from stepward_cdk.settings.settings import SUPERVISOR_TIMEOUT_S, Settings
from stepward_cdk.tables import Tables
from stepward_cdk.watching.alerts import Alerts


class Workers(Construct):
    """Submission, Scheduler, one function per agent, and Supervisor; `code` is the bundle that they share."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        agents: Sequence[AgentNeeds],
        queues: Queues,
        tables: Tables,
        alerts: Alerts,
        settings: Settings,
        code: lambda_.Code,
    ) -> None:
        super().__init__(scope, construct_id)
        self._queues = queues
        self._tables = tables
        self._alerts = alerts
        self._settings = settings
        self._code = code
        self._most_requests = max(agent.requests_at_once for agent in agents)
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
                **self._settings.replies.environment,
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
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
                **self._for_deciding,
                **self._settings.replies.environment,
            },
        )
        for source in (queues.scheduler, queues.responses):
            worker.consume(
                source, batch_size=self._settings.batch_size, max_concurrency=self._settings.engine_concurrency
            )
        for target in self._requests:
            target.queue.grant_send_messages(worker.function)
        queues.scheduler.queue.grant_send_messages(worker.function)  # a retry that comes early waits once more
        tables.orders.grant(worker.function, READ_MANY)
        tables.tasks.grant(worker.function, READ_MANY, READ_ONE, WRITE)
        tables.rejects.grant(worker.function, WRITE)
        self._may_tell(worker.function)
        self._may_reply(worker.function)
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
                "STEPWARD_REQUESTS_QUEUE": requests.queue.queue_url,
                "STEPWARD_SHARED_RECORDS_TABLE": self._tables.shared_records.table_name,
                "STEPWARD_BREAKER_FAILURES": str(self._settings.breaker_failures),
                "STEPWARD_BREAKER_OPEN_MS": str(self._settings.breaker_open_ms),
                "STEPWARD_BREAKER_LONGEST_MS": str(self._settings.breaker_longest_ms),
                "STEPWARD_REJECTS_TABLE": self._tables.rejects.table_name,
                "STEPWARD_RESPONSES_QUEUE": responses.queue_url,
                "STEPWARD_SERVICE_URLS": json.dumps(dict(self._settings.service_urls), sort_keys=True),
            },
        )
        worker.consume(requests, batch_size=agent.batch_size, max_concurrency=agent.ordinary_functions)
        if agent.priority_queue:
            lane = self._queues.lanes[agent.name]
            worker.consume(lane, batch_size=agent.batch_size, max_concurrency=agent.lane_functions)
        responses.grant_send_messages(worker.function)
        self._tables.shared_records.grant(worker.function, READ_ONE, WRITE)
        self._tables.rejects.grant(worker.function, WRITE)
        return worker.function

    def _make_supervisor(self) -> lambda_.Function:
        queues, tasks, lanes = self._queues, self._tables.tasks, self._tables.lanes
        worker = self._worker(
            "Supervisor",
            handler="supervisor.handler",
            timeout=Duration.seconds(SUPERVISOR_TIMEOUT_S),
            environment={
                "STEPWARD_TASKS_TABLE": tasks.table_name,
                "STEPWARD_LANES_TABLE": lanes.table_name,
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
                "STEPWARD_LEASE_MS": str(self._settings.lease_ms),
                "STEPWARD_BACKLOG": str(self._most_requests),
                **self._settings.convoy.rules,
                **self._for_deciding,
            },
        )
        tasks.grant(worker.function, READ_MANY, READ_ONE, QUERY, WRITE)
        lanes.grant(worker.function, READ_ONE, QUERY, WRITE)
        queues.scheduler.queue.grant_send_messages(worker.function)
        for requests in self._requests:  # it looks how many wait; it never asks an agent for anything
            requests.queue.grant(worker.function, "sqs:GetQueueAttributes")
        self._may_tell(worker.function)
        return worker.function

    @property
    def _for_deciding(self) -> Mapping[str, str]:
        """What both who decide about tasks are told: Scheduler and Supervisor."""
        return {
            "STEPWARD_SHARED_RECORDS_TABLE": self._tables.shared_records.table_name,
            "STEPWARD_AGENT_QUEUES": self._addresses(self._queues.agents),
            "STEPWARD_AGENT_PRIORITY_QUEUES": self._addresses(self._queues.lanes),
            **self._alerts.addresses,
            "STEPWARD_FINISHED_DAYS": str(self._settings.finished_days),
        }

    @property
    def _requests(self) -> Iterable[WorkQueue]:
        return [*self._queues.agents.values(), *self._queues.lanes.values()]

    def _addresses(self, queues: Mapping[str, WorkQueue]) -> str:
        return Stack.of(self).to_json_string({name: work.queue.queue_url for name, work in queues.items()})

    def _may_tell(self, function: lambda_.Function) -> None:
        """Once per fact, which the controls remember."""
        self._alerts.may_tell(function)
        self._tables.shared_records.grant(function, READ_ONE, WRITE)

    def _may_reply(self, function: lambda_.Function) -> None:
        if names := self._settings.replies.names(Stack.of(self).partition):
            function.add_to_role_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=list(names)))

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
            environment=environment,
            in_cycle=in_cycle,
            code=self._code,
            settings=self._settings,
        )
