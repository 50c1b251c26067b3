"""Orders come through a topic and through a rule of the local cloud, as they would of an account's."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import boto3
import pytest

from stepward.local.access import Access
from stepward.wire.order import Accepted, accept
from tests.sample import SCHEMAS

pytestmark = pytest.mark.cloud

ORDER = {
    "version": 1,
    "type": "order.submitted",
    "orderId": "",
    "customerId": "acme",
    "submittedAt": "2026-11-28T10:00:00Z",
    "currency": "EUR",
    "items": [{"sku": "A-1", "qty": 1, "unitPrice": "5.00"}],
}


@pytest.mark.parametrize("source", ["topic", "raw topic", "rule"])
def test_an_order_comes_through_a_topic_or_a_rule(cloud_access: Access, source: str) -> None:
    """S8: in whatever each of them wraps it."""
    name = f"orders-{uuid4().hex[:8]}"
    sqs, order = boto3.client("sqs", **cloud_access), json.dumps({**ORDER, "orderId": name})
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    if source == "rule":
        events = boto3.client("events", **cloud_access)
        allowed = events.put_rule(Name=name, EventPattern=json.dumps({"source": ["shop"]}))["RuleArn"]
        _let_in(sqs, queue, arn, "events", allowed)
        events.put_targets(Rule=name, Targets=[{"Id": "orders", "Arn": arn}])
        events.put_events(Entries=[{"Source": "shop", "DetailType": "order", "Detail": order}])
    else:
        sns = boto3.client("sns", **cloud_access)
        topic = sns.create_topic(Name=name)["TopicArn"]
        _let_in(sqs, queue, arn, "sns", topic)
        raw = {"RawMessageDelivery": "true"} if source == "raw topic" else {}
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes=raw)
        sns.publish(TopicArn=topic, Message=order)
    (message,) = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=10)["Messages"]
    assert (message["Body"] == order) is (source == "raw topic")
    taken = accept(message["Body"], SCHEMAS)
    assert isinstance(taken, Accepted)
    assert taken.order.order_id == name


def _let_in(sqs: Any, queue: str, arn: str, service: str, source: str) -> None:
    """The statement of the stack's own policy, for this source."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": arn,
        "Condition": {"ArnEquals": {"aws:SourceArn": [source]}},
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"Policy": policy})
