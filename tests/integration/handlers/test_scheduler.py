"""The function that runs the steps in their order, on the events that Lambda would hand to it."""

import json
from typing import Any

import pytest
import time_machine

from stepward.domain.task.record import ProcessState
from tests.integration.functions import scheduler, submission
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, PLENTY, Deployment, batch, failed, order_body, sample

START = "sqs-scheduler-start.json"
REPLY = "sqs-responses-reply.json"


def submit(deployment: Deployment) -> None:
    deployment.put(order_body())
    deployment.taken("scheduler")


def reply(request: dict[str, Any], outcome: str = "ok", **more: Any) -> str:
    """What an agent would answer to this request, in the words of the sample."""
    (record,) = sample(REPLY)["Records"]
    answer = json.loads(record["body"]) | {name: request[name] for name in ("orderId", "step", "attempt", "token")}
    return json.dumps(answer | {"outcome": outcome, **more})


def asked(deployment: Deployment, agent: str) -> list[dict[str, Any]]:
    return [json.loads(body) for body in deployment.taken(f"agent-{agent}")]


def start(deployment: Deployment) -> dict[str, Any]:
    submit(deployment)
    return start_again(deployment)


def start_again(deployment: Deployment) -> dict[str, Any]:
    assert failed(scheduler.handler(sample(START), PLENTY)) == []
    (request,) = asked(deployment, "inventory")
    return request


def test_a_start_claims_the_first_step_and_asks_its_agent(deployment: Deployment) -> None:
    """S2, S4, S10: lock, complete-by and state in one write, then the request with all that the agent needs."""
    request = start(deployment)

    step = deployment.step("reserve")
    assert (step.process_state, step.attempt) == (ProcessState.PROCESSING, 1)
    assert step.locked_by is not None
    needed = {"orderId": ORDER_ID, "step": "reserve", "operation": "reserve", "attempt": 1}
    needed |= {"token": step.token, "completeBy": step.complete_by}
    assert {name: request[name] for name in needed} == needed
    assert request["order"]["items"][0]["sku"] == "SKU-1"


def test_a_start_delivered_again_asks_again_for_the_same_attempt(deployment: Deployment) -> None:
    """Design rule 1: the claim's token derives from the message, so its first delivery is recognised."""
    first = start(deployment)

    again = start_again(deployment)

    del first["budget"], again["budget"]
    assert again == first
    assert deployment.step("reserve").attempt == 1


def test_a_reply_completes_its_step_and_asks_for_the_next(deployment: Deployment) -> None:
    request = start(deployment)

    assert failed(scheduler.handler(batch(REPLY, [reply(request)]), PLENTY)) == []

    assert deployment.step("reserve").process_state is ProcessState.PROCESSED
    (next_request,) = asked(deployment, "payments")
    assert (next_request["step"], next_request["results"]["reserve"]) == ("charge", {"reservationId": "res-77"})


def test_a_reply_delivered_again_sends_the_next_request_again(deployment: Deployment) -> None:
    """S18: the first sending may be lost."""
    body = reply(start(deployment))
    for _ in range(2):
        scheduler.handler(batch(REPLY, [body]), PLENTY)

    first, again = asked(deployment, "payments")
    assert (first["token"], first["attempt"]) == (again["token"], again["attempt"])
    assert deployment.step("charge").attempt == 1


def test_a_reply_after_complete_by_changes_nothing(deployment: Deployment, log: Log) -> None:
    """S6."""
    body = reply(start(deployment))
    before = deployment.task()
    log.read()

    with time_machine.travel((before.steps["reserve"].complete_by or 0) / 1000 + 1, tick=False):
        assert failed(scheduler.handler(batch(REPLY, [body]), PLENTY)) == []

    assert deployment.task() == before
    assert log.kinds() == ["LateReply"]


def test_the_last_reply_ends_the_task(deployment: Deployment, log: Log) -> None:
    request = start(deployment)
    for agent in ("payments", "shipping"):
        scheduler.handler(batch(REPLY, [reply(request)]), PLENTY)
        (request,) = asked(deployment, agent)
    log.read()

    scheduler.handler(batch(REPLY, [reply(request)]), PLENTY)

    task = deployment.task()
    assert (task.process_state, task.due) == (ProcessState.PROCESSED, None)
    metrics = log.metrics()
    (took,) = metrics["SubmissionToEnd"]  # its number is that of the orders that ended
    assert took >= 0


def test_a_permanent_fault_ends_in_error_and_an_operator_is_alerted_once(deployment: Deployment) -> None:
    """S7."""
    body = reply(start(deployment), "permanent", error="out of stock")
    for _ in range(2):
        assert failed(scheduler.handler(batch(REPLY, [body]), PLENTY)) == []

    step = deployment.step("reserve")
    assert (step.process_state, step.error, step.alert_by) == (ProcessState.ERROR, "out of stock", None)
    (notice,) = [json.loads(body) for body in deployment.taken("inbox")]
    assert notice["MessageAttributes"]["orderId"]["Value"] == ORDER_ID
    assert deployment.task().due is None


def test_an_alert_that_could_not_be_sent_comes_back_and_stays_due(deployment: Deployment) -> None:
    body = reply(start(deployment), "permanent", error="out of stock")
    deployment.sns.delete_topic(TopicArn=deployment.topic)

    assert failed(scheduler.handler(batch(REPLY, [body]), PLENTY)) == ["m-0"]

    assert deployment.step("reserve").process_state is ProcessState.ERROR
    assert deployment.step("reserve").alert_by is not None
    assert deployment.task().due is not None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"type":"task.start","orderId":"ord-unknown"}', "orderId"),
        ('{"type":"task.start"}', "orderId"),
        ('{"type":7,"orderId":"ord-1001"}', "type"),
        ('{"type":"step.retry","orderId":"ord-1001","step":"paint","attempt":1}', "step"),
        ("not JSON", "(body)"),
    ],
)
def test_what_cannot_be_applied_is_rejected_and_stops_no_neighbour(
    deployment: Deployment, body: str, field: str
) -> None:
    submit(deployment)
    good = sample(START)["Records"][0]["body"]

    assert failed(scheduler.handler(batch(START, [body, good]), PLENTY)) == []

    (reject,) = deployment.rejects()
    assert (reject["Field"]["S"], reject["Source"]["S"]) == (field, "scheduler")
    assert reject["Body"]["B"] == body.encode()
    assert len(asked(deployment, "inventory")) == 1


def test_a_message_that_only_newer_code_knows_comes_back_later_as_it_is(deployment: Deployment) -> None:
    """D1: nothing is deleted, and no neighbour waits."""
    submit(deployment)
    newer = '{"type":"task.stop","orderId":"ord-1001"}'

    assert failed(scheduler.handler(batch(START, [newer, sample(START)["Records"][0]["body"]]), PLENTY)) == ["m-0"]

    assert deployment.rejects() == []
    assert len(asked(deployment, "inventory")) == 1


def test_a_request_that_could_not_be_sent_brings_its_message_back(deployment: Deployment) -> None:
    submit(deployment)
    deployment.lose("agent-inventory")

    assert failed(scheduler.handler(batch(START, [sample(START)["Records"][0]["body"]]), PLENTY)) == ["m-0"]

    assert deployment.step("reserve").process_state is ProcessState.PROCESSING


def test_a_record_that_cannot_be_read_brings_only_its_own_message_back(deployment: Deployment) -> None:
    submit(deployment)
    spoiled = {"OrderID": {"S": "ord-bad"}, "Steps": {"S": "garbage"}}
    deployment.dynamodb.put_item(TableName=deployment.tables.tasks, Item=spoiled)
    bodies = ['{"type":"task.start","orderId":"ord-bad"}', sample(START)["Records"][0]["body"]]

    assert failed(scheduler.handler(batch(START, bodies), PLENTY)) == ["m-0"]

    assert deployment.step("reserve").process_state is ProcessState.PROCESSING


def test_another_customers_cancellation_is_a_reject(deployment: Deployment) -> None:
    """Case 10."""

    def cancel(customer: str) -> list[str]:
        body = json.dumps({"type": "order.cancelled", "orderId": ORDER_ID, "customerId": customer})
        submission.handler(batch("sqs-order-plain.json", [body]), PLENTY)
        return failed(scheduler.handler(batch(START, deployment.taken("scheduler")), PLENTY))

    submission.handler(batch("sqs-order-plain.json", [order_body(customerId="acme")]), PLENTY)
    deployment.taken("scheduler")
    before = deployment.task()

    assert cancel("globex") == []
    (reject,) = deployment.rejects()
    assert (reject["OrderID"]["S"], reject["Field"]["S"]) == (ORDER_ID, "customerId")
    assert deployment.task() == before
    assert cancel("acme") == []
    assert deployment.task().undoing
