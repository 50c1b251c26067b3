"""The resources of a stack on moto: tables, queues, a topic, and the environment of the functions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3

from stepward.testing.aws.tables import create_table

REGION, ACCOUNT, SHARDS = "us-east-1", "123456789012", 2
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}
TABLES = ("orders", "tasks", "rejects", "shared_records", "lanes")
QUEUES = ("scheduler", "responses", "inbox", "order-events.fifo")
BUCKET, REJECTS = "ledgers", "rejects"


@dataclass(frozen=True, slots=True)
class Stack:
    """Names and addresses of all resources, queues by their names; `inbox` is the queue that gets operators' alerts."""

    tables: Mapping[str, str]
    queues: Mapping[str, str]
    topic: str
    service: str = field(default_factory=lambda: f"stepward-{uuid4().hex[:8]}")

    @staticmethod
    def new(agents: Sequence[str], more: Sequence[str] = ()) -> Stack:
        """Create a stack with the queues of these agents and `more` queues."""
        dynamodb, sqs, sns = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("sns")
        prefix = f"t{uuid4().hex[:8]}"
        tables = {kind: create_table(dynamodb, kind, f"{prefix}-{kind}") for kind in TABLES}
        queues: dict[str, str] = {}
        for name in (*QUEUES, *more, *(f"agent-{agent}" for agent in agents)):
            kind: Any = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
            made = sqs.create_queue(QueueName=name, Attributes=kind)
            queues[name.removesuffix(".fifo")] = made["QueueUrl"]
        topic = sns.create_topic(Name="alerts")["TopicArn"]
        inbox = sqs.get_queue_attributes(QueueUrl=queues["inbox"], AttributeNames=["QueueArn"])
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=inbox["Attributes"]["QueueArn"])
        for bucket in (BUCKET, REJECTS):
            boto3.client("s3").create_bucket(Bucket=bucket)
        return Stack(tables, queues, topic)

    def env(self) -> dict[str, str]:
        """The environment that all functions share."""
        agents = [name.removeprefix("agent-") for name in self.queues if name.startswith("agent-")]
        return {
            "AWS_REGION": REGION,
            **{f"STEPWARD_{kind.upper()}_TABLE": name for kind, name in self.tables.items()},
            "STEPWARD_LANES_QUEUE": self.queues["order-events"],
            "STEPWARD_LEDGERS_BUCKET": BUCKET,
            "STEPWARD_REJECTS_BUCKET": REJECTS,
            "STEPWARD_SCHEDULER_QUEUE": self.queues["scheduler"],
            "STEPWARD_RESPONSES_QUEUE": self.queues["responses"],
            "STEPWARD_AGENTS": ",".join(agents),
            "STEPWARD_AGENT_PREFIX": "agent-",
            "STEPWARD_ALERTS_TOPIC": self.topic,
            "STEPWARD_REPLY_ACCOUNTS": ACCOUNT,
            "STEPWARD_REPLY_REGIONS": REGION,
            "STEPWARD_REPLY_PREFIXES": "replies-",
            "STEPWARD_OWN_PREFIX": "stepward-",
            "STEPWARD_SHARDS": str(SHARDS),
            "POWERTOOLS_SERVICE_NAME": self.service,
            "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
            "POWERTOOLS_LOG_LEVEL": "INFO",
        }


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set these environment variables for as long as the block runs."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
