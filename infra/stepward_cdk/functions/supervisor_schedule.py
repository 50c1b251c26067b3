"""What wakes the Supervisor."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward_cdk.queues import dead_letters
from stepward_cdk.settings.settings import WAKE_UP_RETRIES, Settings


class WakeUp(Construct):
    """A schedule; a wake-up that comes too late is dropped, because the next one does all of its work.

    The Supervisor has no reserved concurrency: a new account's limit of 10 leaves none to reserve, and two
    Supervisors at once cost a few reads, never a second recovery, since each recovery is one conditional write.
    """

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
            description="Wakes the Supervisor",
            schedule=events.Schedule.rate(every),
            targets=[
                targets.LambdaFunction(
                    supervisor, dead_letter_queue=self.dead, max_event_age=every, retry_attempts=WAKE_UP_RETRIES
                )
            ],
        )
