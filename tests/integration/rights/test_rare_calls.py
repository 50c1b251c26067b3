"""What a function is allowed for a case that few orders meet: each right has its case."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import boto3
import pytest

from stepward.domain.messages import Cancel, Start
from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from stepward.wire.messages import encode
from stepward.wiring.clock import now
from stepward.wiring.submission import submission as submission_of
from tests.factories import ALERTS, falls_back, planned
from tests.integration.functions import scheduler, submission
from tests.integration.handlers.deployment import ORDER_ID, Deployment, batch, failed, order_body, sample
from tests.integration.handlers.test_convoy import create, entry, work
from tests.integration.handlers.test_supervisor import DAY, sweep
from tests.planned_app import PlannedApp

ORDERS, STARTS, REPLIES = "sqs-order-plain.json", "sqs-scheduler-start.json", "sqs-responses-reply.json"


@pytest.mark.parametrize(
    ("function", "kind", "queue"),
    [(submission, ORDERS, "orders"), (scheduler, STARTS, "scheduler"), (scheduler, REPLIES, "responses")],
)
def test_what_has_failed_often_is_sent_anew(deployment: Deployment, function: Any, kind: str, queue: str) -> None:
    """S18: to the queue that it came from, before its receives are used up."""
    if queue not in deployment.queues:
        deployment.queues[queue] = deployment.sqs.create_queue(QueueName=queue)["QueueUrl"]
    event = copy.deepcopy(sample(kind))
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = "20"
    deployment.dynamodb.delete_table(TableName=deployment.tables.tasks)

    assert failed(function.handler(event, None)) == []

    found: Any = ["ApproximateNumberOfMessagesDelayed"]
    counted = deployment.sqs.get_queue_attributes(QueueUrl=deployment.queues[queue], AttributeNames=found)
    assert counted["Attributes"] == {found[0]: "1"}


@pytest.mark.parametrize(
    "submit", [lambda: submission.handler(batch(ORDERS, [order_body()]), None), lambda: work(create(ORDER_ID))]
)
def test_a_cancellation_that_comes_before_its_order_meets_it(deployment: Deployment, submit: Callable[[], Any]) -> None:
    """S19: the Scheduler looks whether the order has come and ended; whoever submits it looks for the cancellation."""
    cancel = encode(Cancel(ORDER_ID, "the submitter", "no longer wanted"))
    assert failed(scheduler.handler(batch(STARTS, [cancel]), None)) == []

    submit()

    assert deployment.task().process_state is ProcessState.UNDONE


def test_before_it_claims_a_step_with_a_fallback_the_scheduler_counts_what_waits(deployment: Deployment) -> None:
    """S21: the agent has room, so it gets the step."""
    step = replace(planned("pay", exhausted=(falls_back("shipping"), ALERTS), at_once=1), agent="payments")
    app: Any = PlannedApp(Plan("line", 1, (step,)))
    submission_of(app, deployment.env)(batch(ORDERS, [order_body()]), None)

    assert failed(scheduler.handler(batch(STARTS, [encode(Start(ORDER_ID))]), None)) == []

    assert len(deployment.taken("agent-payments")) == 1


def test_a_gap_in_a_lane_is_found_by_the_supervisor(deployment: Deployment) -> None:
    """C4: it alerts people, and records in the lane that it did."""
    assert work(entry(ORDER_ID, 2)) == []

    sweep(now() + DAY)

    assert deployment.lane(ORDER_ID).alerted


def test_a_step_that_may_be_answered_later_is_asked_for_with_a_token(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W6: the Scheduler reads the key to sign it with."""
    secret = boto3.client("secretsmanager").create_secret(Name="callbacks", SecretString="a key of this test " * 2)
    monkeypatch.setenv("STEPWARD_CALLBACK_SECRET", secret["ARN"])
    step = replace(planned("pay", answer_within=DAY), agent="payments")
    app: Any = PlannedApp(Plan("line", 1, (step,)))
    submission_of(app, deployment.env)(batch(ORDERS, [order_body()]), None)

    assert failed(scheduler.handler(batch(STARTS, [encode(Start(ORDER_ID))]), None)) == []

    (request,) = deployment.taken("agent-payments")
    assert json.loads(request)["callback"]
