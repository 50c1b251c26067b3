"""What a submitter that names a queue of its own hears from the functions."""

import json
from typing import Any

import pytest

from tests.integration.functions import scheduler, submission
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import ORDER_ID, PLENTY, Deployment, batch, failed, order_body

PLAIN, HOST = "sqs-order-plain.json", "https://sqs.us-east-1.amazonaws.com"


def submit(**changes: Any) -> list[str]:
    return failed(submission.handler(batch(PLAIN, [order_body(**changes)]), PLENTY))


def start() -> list[str]:
    text = json.dumps({"type": "task.start", "orderId": ORDER_ID})
    return failed(scheduler.handler(batch("sqs-scheduler-start.json", [text]), PLENTY))


def queue(deployment: Deployment, name: str) -> str:
    attributes: dict[Any, str] = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    url: str = deployment.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    deployment.queues[name] = url
    return url


@pytest.mark.parametrize("name", ["replies-shop", "replies-shop.fifo"])
def test_a_submitter_is_notified_on_its_own_queue(deployment: Deployment, name: str) -> None:
    """S19: with the ids that the order carries, and the engine's status."""
    url = queue(deployment, name)

    assert submit(replyTo=url) == start() == []

    (notice,) = map(json.loads, deployment.taken(name))
    assert notice["type"] == "order.status"
    assert (notice["orderId"], notice["correlationId"]) == (ORDER_ID, "checkout-5501")
    assert (notice["status"], notice["step"], notice["revision"]) == ("received", None, 2)


def test_the_queue_may_be_named_by_its_arn(deployment: Deployment) -> None:
    """S19."""
    url = queue(deployment, "replies-shop")

    submit(replyTo=f"arn:aws:sqs:us-east-1:{url.split('/')[-2]}:replies-shop")

    assert deployment.task().reply_to == url


@pytest.mark.parametrize(
    ("reply_to", "reason"),
    [
        (f"{HOST}/999999999999/replies-shop", "names a queue of account 999999999999"),
        (f"{HOST}.evil.example/111122223333/replies-shop", "is neither the URL"),
        (f"{HOST}/111122223333/stepward-Orders-X", "names a queue of this deployment itself"),
    ],
)
def test_an_order_that_names_a_foreign_queue_is_rejected(deployment: Deployment, reply_to: str, reason: str) -> None:
    """S19, field case 76: with field and reason, and nothing else is stored or sent."""
    assert submit(replyTo=reply_to) == []

    (row,) = deployment.rejects()
    assert row["Field"]["S"] == "replyTo"
    assert row["Reason"]["S"].startswith(reason)
    assert (deployment.order_ids(), deployment.taken("scheduler")) == (set(), [])


def test_a_queue_that_is_gone_holds_up_nothing(deployment: Deployment, log: Log) -> None:
    """S19, field case 76: the message is done, the step is asked for, and the loss is counted."""
    submit(replyTo="https://sqs.us-east-1.amazonaws.com/111122223333/replies-gone")
    log.read()

    assert start() == []

    assert len(deployment.taken("agent-inventory")) == 1
    lines = log.read()
    (lost,) = (line for line in lines if line.get("message") == "NoticeLost")
    assert lost["reason"].endswith("NonExistentQueue")
    assert [line["NoticesLost"] for line in lines if "NoticesLost" in line] == [[1.0]]
