"""The samples in events/ are what the functions really receive."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from orders.messages import OrderSubmitted
from stepward.domain.messages import Reply, Start
from stepward.wire.messages import decode_for_scheduler, decode_request
from stepward.wire.order import Accepted, accept

EVENTS = Path(__file__).parents[3] / "events"


def records(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EVENTS / f"{name}.json").read_text())["Records"]
    return found


@pytest.mark.parametrize("name", ["sqs-order-plain", "sqs-order-sns", "sqs-order-eventbridge"])
def test_the_sample_orders_are_accepted(name: str) -> None:
    for record in records(name):
        assert isinstance(accept(record["body"], OrderSubmitted), Accepted)


def test_the_plain_sample_is_the_order_of_the_tutorial() -> None:
    body = (EVENTS / "orders" / "order.json").read_text()
    assert accept(body, OrderSubmitted) == accept(records("sqs-order-plain")[0]["body"], OrderSubmitted)


def test_the_sample_messages_between_parts_are_decoded() -> None:
    assert decode_for_scheduler(records("sqs-scheduler-start")[0]["body"]) == Start("ord-1001")
    assert isinstance(decode_for_scheduler(records("sqs-responses-reply")[0]["body"]), Reply)
    assert decode_request(records("sqs-agent-request")[0]["body"]).agent == "payments"


@pytest.mark.parametrize("path", sorted(EVENTS.glob("sqs-*.json")), ids=lambda path: path.stem)
def test_a_sample_has_the_shape_that_sqs_sends(path: Path) -> None:
    for record in records(path.stem):
        digest = hashlib.md5(record["body"].encode(), usedforsecurity=False).hexdigest()
        assert record["md5OfBody"] == digest
        assert record["eventSourceARN"].startswith("arn:aws:sqs:us-east-1:111122223333:")
        assert record["attributes"].keys() >= {"ApproximateReceiveCount", "SentTimestamp"}
