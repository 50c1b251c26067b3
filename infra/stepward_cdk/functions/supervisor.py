"""The function that finds what is overdue, its rights, and the schedule that wakes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import COUNT, READ_MANY, READ_ONE, SEND, WRITE, allow, allow_query, allow_queue
from stepward_cdk.queues import Queues, dead_letters
from stepward_cdk.settings.agent_needs import AgentNeeds
from stepward_cdk.settings.settings import SUPERVISOR_TIMEOUT_S, WAKE_UP_RETRIES, Settings
from stepward_cdk.tables import DUE_INDEX


class Supervisor(Worker):
    """Recovers tasks and checks lanes on a schedule; it requests, and asks no agent for anything.

    It has no reserved concurrency: a new account's limit of 10 leaves none to reserve. Two Supervisors at once cost a
    few reads, never a second recovery, since each recovery is one conditional write.
    """

    def __init__(self, scope: Construct, construct_id: str, *, agents: Sequence[AgentNeeds], parts: Parts) -> None:
        queues, tables, settings = parts.queues, parts.tables, parts.settings
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="supervisor.handler",
            timeout=Duration.seconds(SUPERVISOR_TIMEOUT_S),
            environment={
                "STEPWARD_TASKS_TABLE": tables.tasks.table_name,
                "STEPWARD_LANES_TABLE": tables.lanes.table_name,
                "STEPWARD_SCHEDULER_QUEUE": queues.scheduler.queue.queue_url,
                "STEPWARD_DRAINING_SHARDS": str(settings.draining_shards),
                "STEPWARD_LEASE_MS": str(settings.lease_ms),
                "STEPWARD_BACKLOG": str(max(agent.requests_at_once for agent in agents)),
                **settings.convoy.rules,
                **parts.for_deciding,
                **({} if settings.full_watching else _counted(queues)),
            },
        )
        allow(self.function, tables.tasks, READ_MANY, READ_ONE, WRITE)
        allow(self.function, tables.lanes, READ_ONE, WRITE)
        for table in (tables.tasks, tables.lanes):
            allow_query(self.function, table, DUE_INDEX)
        allow(self.function, tables.shared_records, READ_ONE, WRITE)
        allow_queue(self.function, queues.scheduler.queue, SEND)
        for requests in queues.of_agents:  # it counts how many wait
            allow_queue(self.function, requests.queue, COUNT)
        if not settings.full_watching:
            allow_queue(self.function, queues.order_events.queue, COUNT)
            for work in queues.of_engine.values():
                allow_queue(self.function, work.dead, COUNT)
        parts.alerts.grant_publish(self.function)
        self.wake_up = WakeUp(self, "WakeUp", supervisor=self.function, settings=settings)


def _counted(queues: Queues) -> Mapping[str, str]:
    """The dead-letter queues that it checks where they have no alarms, by name: there is no room for addresses."""
    dead = [f"{name}={work.dead.queue_name}" for name, work in queues.of_engine.items()]
    return {"STEPWARD_DEAD_LETTERS": ",".join(dead), "STEPWARD_LANES_QUEUE": queues.order_events.queue.queue_url}


class WakeUp(Construct):
    """A schedule; a wake-up that comes too late is dropped, because the next one does all of its work."""

    def __init__(
        self, scope: Construct, construct_id: str, *, supervisor: lambda_.Function, settings: Settings
    ) -> None:
        super().__init__(scope, construct_id)
        every = Duration.minutes(settings.supervise_minutes)
        self.dead = dead_letters(self, "Dead", settings=settings)
        supervisor.configure_async_invoke(retry_attempts=0, max_event_age=every)
        events.Rule(
            self,
            "Rule",
            description=f"Wakes the Supervisor of {settings.stack}",
            schedule=events.Schedule.rate(every),
            targets=[
                targets.LambdaFunction(
                    supervisor, dead_letter_queue=self.dead, max_event_age=every, retry_attempts=WAKE_UP_RETRIES
                )
            ],
        )
