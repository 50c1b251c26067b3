"""The function that runs the steps of every task in their order."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import COUNT, READ_MANY, READ_ONE, SEND, WRITE, allow, allow_queue


class Scheduler(Worker):
    """Takes instructions and replies, changes tasks, asks agents, and notifies submitters."""

    def __init__(self, scope: Construct, construct_id: str, *, parts: Parts) -> None:
        queues, tables, settings = parts.queues, parts.tables, parts.settings
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="scheduler.handler",
            timeout=queues.scheduler.consumer_timeout,
            in_cycle=True,
            environment={
                **parts.for_orders,
                **parts.for_deciding,
                **settings.replies.environment,
            },
        )
        for source in (queues.scheduler, queues.responses):
            self.consume(source, batch_size=settings.batch_size, max_concurrency=settings.engine_concurrency)
        for requests in queues.of_agents:
            allow_queue(self.function, requests.queue, SEND, COUNT)  # it counts what waits there, too
        for work in (queues.scheduler, queues.responses):  # a retry that comes early waits; what fails is sent anew
            allow_queue(self.function, work.queue, SEND)
        allow(self.function, tables.orders, READ_MANY, READ_ONE)  # no cancellation waits for an order that has ended
        if parts.children:
            allow(self.function, tables.orders, WRITE)
        allow(self.function, tables.tasks, READ_MANY, READ_ONE, WRITE)
        parts.let_reject(self.function)
        allow(self.function, tables.shared_records, READ_ONE, WRITE)
        parts.alerts.grant_publish(self.function)
        if parts.callback_key is not None:
            parts.callback_key.grant_read(self.function)
        if names := settings.replies.names(Stack.of(self).partition):
            self.function.add_to_role_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=list(names)))
