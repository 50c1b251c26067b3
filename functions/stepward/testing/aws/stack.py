"""What a stack would deploy, on moto: tables, queues, a topic, and the environment of the functions."""

from __future__ import annotations

import json
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
TABLES = ("orders", "tasks", "rejects", "controls", "lanes")
QUEUES = ("orders", "scheduler", "responses", "replies-shop", "alerted", "ledgers.fifo", "events.fifo")


@dataclass(frozen=True, slots=True)
class Stack:
    """Names and addresses of all of it; queues by the names that `Engine` gives them."""

    tables: Mapping[str, str]
    queues: Mapping[str, str]
    topic: str
    bucket: str
    service: str = field(default_factory=lambda: f"stepward-{uuid4().hex[:8]}")

    @staticmethod
    def new(agents: Sequence[str]) -> Stack:
        """A new one, with the queues of these agents."""
        dynamodb, sqs, sns = boto3.client("dynamodb"), boto3.client("sqs"), boto3.client("sns")
        tables = {kind: create_table(dynamodb, kind, f"stepward-test-{kind}") for kind in TABLES}
        queues: dict[str, str] = {}
        for name in (*QUEUES, *(f"agent-{agent}" for agent in agents)):
            kind: Any = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
            made = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "60", **kind})
            queues[name.removesuffix(".fifo")] = made["QueueUrl"]
        topic = sns.create_topic(Name="alerts")["TopicArn"]
        asked = sqs.get_queue_attributes(QueueUrl=queues["alerted"], AttributeNames=["QueueArn"])
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=asked["Attributes"]["QueueArn"])
        boto3.client("s3").create_bucket(Bucket="stepward-test-ledgers")
        return Stack(tables, queues, topic, "stepward-test-ledgers")

    def env(self) -> dict[str, str]:
        """The settings that all functions have in common."""
        agents = {name.removeprefix("agent-"): url for name, url in self.queues.items() if name.startswith("agent-")}
        return {
            "AWS_REGION": REGION,
            **{f"STEPWARD_{kind.upper()}_TABLE": name for kind, name in self.tables.items()},
            "STEPWARD_LANES_QUEUE": self.queues["events"],
            "STEPWARD_LEDGERS_BUCKET": self.bucket,
            "STEPWARD_SCHEDULER_QUEUE": self.queues["scheduler"],
            "STEPWARD_RESPONSES_QUEUE": self.queues["responses"],
            "STEPWARD_AGENT_QUEUES": json.dumps(agents),
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
    """These settings, for as long as the block runs."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
