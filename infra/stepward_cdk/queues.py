"""The queues; a message that nobody can process ends where an operator finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stepward_cdk.settings.agent_needs import AgentNeeds
from stepward_cdk.settings.order_sources import by_service
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

    A `fifo` queue has high throughput only with throughput and deduplication both per group. Queues with a `name`, and
    their dead-letter queues, share the policy that closes them to plain HTTP.
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
        name: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.consumer_timeout = consumer_timeout
        self.dead = dead_letters(self, "Dead", settings=settings, fifo=fifo, closed=not name)
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not name,
            visibility_timeout=Duration.seconds(VISIBILITY_TIMES_TIMEOUT * int(consumer_timeout.to_seconds())),
            retention_period=Duration.days(retention_days),
            fifo=fifo or None,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID if fifo else None,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP if fifo else None,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=receives),
            # Only its name tells where it is, so a queue that outlived its agent would be in the way of its return.
            removal_policy=RemovalPolicy.DESTROY if name else removal(settings),
        )


def dead_letters(
    scope: Construct, construct_id: str, *, settings: Settings, fifo: bool = False, closed: bool = True
) -> sqs.Queue:
    """A queue that stores what could not be delivered for as long as SQS allows; that of a FIFO queue is FIFO, too."""
    return sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=closed,
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
        self._let_in(settings.order_sources)
        self.scheduler = WorkQueue(self, "Scheduler", consumer_timeout=engine, settings=settings)
        self.responses = WorkQueue(self, "Responses", consumer_timeout=engine, settings=settings)
        self.agents = {
            agent.name: self._requests(f"Agent-{agent.name}", agent, agent.queue_names[0], settings) for agent in agents
        }
        self.priority = {
            agent.name: self._requests(f"Priority-{agent.name}", agent, agent.queue_names[1], settings)
            for agent in agents
            if agent.priority_queue
        }
        self._close([queue for work in self.of_agents for queue in (work.queue, work.dead)])
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
        ordinary = {f"agent-{name}": work for name, work in self.agents.items()}
        urgent = {f"agent-{name}-high": work for name, work in self.priority.items()}
        return {**self.of_engine, **ordinary, **urgent, **self.of_ledgers}

    @property
    def of_engine(self) -> Mapping[str, WorkQueue]:
        """The queues that each deployment has, by the same names: what is lost in them, nobody sends again."""
        engine = {"orders": self.orders, "scheduler": self.scheduler, "responses": self.responses}
        return {**engine, "ledgers": self.ledgers, "order-events": self.order_events}

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

    def _let_in(self, sources: Sequence[str]) -> None:
        """Let these topics and rules put orders into the queue; nobody else but this account's own roles may."""
        for service, arns in by_service(sources).items():
            self.orders.queue.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[iam.ServicePrincipal(service)],
                    actions=["sqs:SendMessage"],
                    resources=[self.orders.queue.queue_arn],
                    conditions={"ArnEquals": {"aws:SourceArn": list(arns)}},
                )
            )

    def _close(self, queues: Sequence[sqs.Queue]) -> None:
        """Refuse plain HTTP to all of them by one policy: a stack has room for so many resources only."""
        policy = sqs.CfnQueuePolicy(
            self,
            "AgentsPolicy",
            queues=[queue.queue_url for queue in queues],
            policy_document=iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(
                        effect=iam.Effect.DENY,
                        principals=[iam.AnyPrincipal()],
                        actions=["sqs:*"],
                        resources=["*"],
                        conditions={"Bool": {"aws:SecureTransport": "false"}},
                    )
                ]
            ),
        )
        policy.node.add_dependency(*queues)

    def _requests(self, construct_id: str, agent: AgentNeeds, name: str, settings: Settings) -> WorkQueue:
        return WorkQueue(
            self,
            construct_id,
            consumer_timeout=Duration.seconds(agent.timeout_s),
            settings=settings,
            receives=REQUEST_RECEIVES,
            name=settings.queue_name(name),
        )
