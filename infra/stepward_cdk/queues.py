"""The queues; a message that nobody can process ends where an operator finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stepward_cdk.settings.agent_needs import AgentNeeds
from stepward_cdk.settings.settings import (
    CONVOY_RECEIVES,
    CONVOY_RETENTION_DAYS,
    DEAD_RETENTION_DAYS,
    FUNCTION_TIMEOUT_S,
    MAX_RECEIVES,
    QUEUE_RETENTION_DAYS,
    REQUEST_RECEIVES,
    VISIBILITY_TIMES_TIMEOUT,
    Settings,
)


class WorkQueue(Construct):
    """A queue and its dead-letter queue; a message stays hidden long enough for its consumer's retries.

    A `fifo` queue has high throughput only with throughput and deduplication both per group.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        consumer_timeout: Duration,
        settings: Settings,
        receives: int = MAX_RECEIVES,
        retention_days: int = QUEUE_RETENTION_DAYS,
        fifo: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        self.consumer_timeout = consumer_timeout
        self.dead = dead_letters(self, "Dead", settings=settings, fifo=fifo)
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=Duration.seconds(VISIBILITY_TIMES_TIMEOUT * int(consumer_timeout.to_seconds())),
            retention_period=Duration.days(retention_days),
            fifo=fifo or None,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID if fifo else None,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP if fifo else None,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=receives),
            removal_policy=removal(settings),
        )


def dead_letters(scope: Construct, construct_id: str, *, settings: Settings, fifo: bool = False) -> sqs.Queue:
    """A queue that stores what could not be delivered for as long as SQS allows; that of a FIFO queue is FIFO, too."""
    return sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(DEAD_RETENTION_DAYS),
        fifo=fifo or None,
        removal_policy=removal(settings),
    )


def removal(settings: Settings) -> RemovalPolicy:
    """What happens to a resource with data when it leaves the stack."""
    return RemovalPolicy.RETAIN if settings.lasting else RemovalPolicy.DESTROY


class Queues(Construct):
    """Every queue of a deployment: orders and ledgers in, order events, work for the Scheduler, requests, replies."""

    def __init__(
        self, scope: Construct, construct_id: str, *, agents: Sequence[AgentNeeds], settings: Settings
    ) -> None:
        super().__init__(scope, construct_id)
        engine = Duration.seconds(FUNCTION_TIMEOUT_S)
        self.orders = WorkQueue(self, "Orders", consumer_timeout=engine, settings=settings)
        self.scheduler = WorkQueue(self, "Scheduler", consumer_timeout=engine, settings=settings)
        self.responses = WorkQueue(self, "Responses", consumer_timeout=engine, settings=settings)
        self.agents = {agent.name: self._requests(f"Agent-{agent.name}", agent, settings) for agent in agents}
        self.priority = {
            agent.name: self._requests(f"Priority-{agent.name}", agent, settings)
            for agent in agents
            if agent.priority_queue
        }
        convoy = settings.convoy
        self.order_events = self._convoy("OrderEvents", convoy.lane_timeout_s, settings)
        self.ledgers = self._convoy("Ledgers", convoy.ledger_timeout_s, settings)
        self.customers = {
            customer: self._convoy(f"Ledgers-{customer}", convoy.ledger_timeout_s, settings)
            for customer in convoy.queues
        }

    @property
    def by_name(self) -> Mapping[str, WorkQueue]:
        """All queues, by the names that alarms, dashboard and command line use."""
        engine = {"orders": self.orders, "scheduler": self.scheduler, "responses": self.responses}
        ordinary = {f"agent-{name}": work for name, work in self.agents.items()}
        urgent = {f"agent-{name}-high": work for name, work in self.priority.items()}
        return {**engine, **ordinary, **urgent, **self.of_ledgers, "order-events": self.order_events}

    @property
    def of_agents(self) -> Sequence[WorkQueue]:
        """All queues of requests to agents, ordinary and priority."""
        return [*self.agents.values(), *self.priority.values()]

    @property
    def of_ledgers(self) -> Mapping[str, WorkQueue]:
        """The queues that bring ledgers, by the same names."""
        return {"ledgers": self.ledgers} | {f"ledgers-{name}": work for name, work in self.customers.items()}

    def _convoy(self, construct_id: str, timeout_s: int, settings: Settings) -> WorkQueue:
        return WorkQueue(
            self,
            construct_id,
            consumer_timeout=Duration.seconds(timeout_s),
            settings=settings,
            receives=CONVOY_RECEIVES,
            retention_days=CONVOY_RETENTION_DAYS,
            fifo=True,
        )

    def _requests(self, construct_id: str, agent: AgentNeeds, settings: Settings) -> WorkQueue:
        return WorkQueue(
            self,
            construct_id,
            consumer_timeout=Duration.seconds(agent.timeout_s),
            settings=settings,
            receives=REQUEST_RECEIVES,
        )
