"""Another customer's events and cancellations, on the events that Lambda would hand to the functions."""

import json
from typing import Any

import convoy
import scheduler
import submission
from stepward.testing.sqs.lambda_events import LambdaContext
from tests.integration.handlers.deployment import ORDER_ID, Deployment, batch, failed, order_body, sample
from tests.integration.handlers.test_convoy import batch as events
from tests.integration.handlers.test_convoy import create, entry

CONTEXT = LambdaContext("convoy", "r-1", ends_at=10_000, clock=lambda: 0)
REASON = "is 'globex'; the order is one of 'acme'"


def reasons(deployment: Deployment) -> list[tuple[str, str, str]]:
    return [(row["OrderID"]["S"], row["Field"]["S"], row["Reason"]["S"]) for row in deployment.rejects()]


def handle(*bodies: str) -> list[str]:
    return failed(convoy.handler(events(*bodies), CONTEXT))


def test_another_customers_events_change_nothing_in_the_lane_or_the_order(deployment: Deployment) -> None:
    """FIELD_CASES_2 10: its create was a duplicate, and its delete undid and refunded a shipped order."""
    acme: dict[str, Any] = {"customerId": "acme", "ledgerId": "L1"}
    globex: dict[str, Any] = {"customerId": "globex", "ledgerId": "L1"}
    assert handle(create("1042", **acme)) == []
    before = deployment.lane("1042"), deployment.task("1042")

    assert handle(create("1042", **globex), entry("1042", 2, "delete", end=True, **globex)) == []

    assert (deployment.lane("1042"), deployment.task("1042")) == before
    assert reasons(deployment) == [("1042", "customerId", REASON)] * 2
    assert handle(entry("1042", 2, **acme)) == []
    assert (deployment.lane("1042").last, deployment.lane("1042").customer_id) == (2, "acme")


def test_another_customers_create_leaves_no_lane_behind(deployment: Deployment) -> None:
    submission.handler(batch("sqs-order-plain.json", [order_body("1042", customerId="acme")]), None)

    assert handle(create("1042", customerId="globex")) == []

    assert reasons(deployment) == [("1042", "customerId", REASON)]
    assert deployment.lanes.load("1042") is None


def test_another_customers_cancellation_is_a_reject(deployment: Deployment) -> None:
    def cancel(customer: str) -> list[str]:
        body = json.dumps({"type": "order.cancelled", "orderId": ORDER_ID, "customerId": customer})
        assert failed(submission.handler(batch("sqs-order-plain.json", [body]), None)) == []
        return failed(scheduler.handler(batch("sqs-scheduler-start.json", deployment.taken("scheduler")), None))

    submission.handler(batch("sqs-order-plain.json", [order_body(customerId="acme")]), None)
    deployment.taken("scheduler")
    before = deployment.task()

    assert cancel("globex") == []
    assert (deployment.task(), reasons(deployment)) == (before, [(ORDER_ID, "customerId", REASON)])
    assert cancel("acme") == []
    assert deployment.task().undoing


def test_the_sample_order_is_still_keyed_by_its_id_alone(deployment: Deployment) -> None:
    submission.handler(sample("sqs-order-plain.json"), None)
    assert deployment.order_ids() == {ORDER_ID}
