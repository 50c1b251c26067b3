"""The function that splits ledgers, on the events that Lambda would hand to it."""

import json
from typing import Any

import boto3
import pytest

from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.app.ledger import split as ledgers
from stepward.domain.errors import Misconfigured, Transient
from stepward.testing.aws.stack import BUCKET
from stepward.testing.sqs.lambda_events import LambdaContext, event_of
from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.source import SqsSource
from tests.emptied import emptied
from tests.integration.functions import ledger
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import Deployment, Event, batch, failed, sample

SAMPLE, OBJECT = "sqs-ledger.json", "sqs-ledger-object.json"
KEY = "customer-7/2026-01-01-b.jsonl"
PLENTY = LambdaContext("ledger", "r-1", ends_at=60_000, clock=lambda: 0)
HARDLY_ANY = LambdaContext("ledger", "r-1", ends_at=9_000, clock=lambda: 0)


def entries(count: int, orders: int = 7) -> list[dict[str, Any]]:
    add = {"op": "add", "amount": "1.00"}
    return [{"orderId": f"ord-{n % orders}", "sequence": n // orders + 1} | add for n in range(count)]


def ledger_body(**changes: Any) -> str:
    usual = {"ledgerId": "ledger-1", "customerId": "customer-7", "entries": entries(3)}
    return json.dumps({name: value for name, value in {**usual, **changes}.items() if value is not None})


HUGE = "x" * 204_000
HUGE_TEXTS: list[dict[str, Any]] = [
    {"NotificationType": HUGE, "Payload": {}},
    {"orderId": HUGE, "op": "add"},
    {"orderId": {HUGE: 1}, "op": "add"},
    {"orderId": "ord-9", "sequence": 1, "op": HUGE},
    {"orderId": "ord-9", "sequence": 1, "op": "add", HUGE: float("nan")},
    {"orderId": "ord-9", "sequence": 1, "op": "add", "workflow": HUGE},
]
"""Events with a fault that are as long as a message; a name and a value can be that long."""


@pytest.mark.parametrize("huge", HUGE_TEXTS, ids=range(len(HUGE_TEXTS)))
def test_an_entry_whose_fault_is_huge_keeps_nothing_from_its_neighbours(
    deployment: Deployment, huge: dict[str, Any]
) -> None:
    """C2, case 17: its reason quotes it, and is cut with its length; it is kept, or blocks its order's lane alone."""
    first, last = entries(2)
    assert split(batch(SAMPLE, [ledger_body(entries=[first, huge, last])])) == []

    messages = arrived(deployment)
    assert {"ord-0", "ord-1"} <= {json.loads(message.body)["orderId"] for message in messages}
    assert len(messages) + len(deployment.rejects()) == 3
    assert all(len(reject["Field"]["S"] + reject["Reason"]["S"]) <= 1_200 for reject in deployment.rejects())


def test_orders_go_on_though_a_reject_cannot_be_kept(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """C2: the ledger comes again until it can."""

    def throttled(*_: object, **__: object) -> None:
        raise Transient("throttled")

    monkeypatch.setattr(DynamoRejects, "keep", throttled)
    first, last = entries(2)

    assert split(batch(SAMPLE, [ledger_body(entries=[first, {"op": "add"}, last])])) == ["m-0"]

    assert sequences(arrived(deployment)) == [("ord-0", 1), ("ord-1", 1)]


def put_object(count: int, first: str = "") -> list[dict[str, Any]]:
    """The object of the sample, with so many entries behind the first line."""
    lines = entries(count)
    body = first + "".join(json.dumps(line) + "\n" for line in lines)
    boto3.client("s3").put_object(Bucket=BUCKET, Key=KEY, Body=body.encode())
    return lines


def arrived(deployment: Deployment) -> list[Received]:
    return emptied(deployment.source("order-events"))


def sequences(messages: list[Received]) -> list[tuple[str, int]]:
    read = [json.loads(message.body) for message in messages]
    return sorted((body["orderId"], body["sequence"]) for body in read)


def split(event: Event, context: LambdaContext = PLENTY) -> list[str]:
    return failed(ledger.handler(event, context))


def test_every_entry_goes_to_the_lane_of_its_order(deployment: Deployment, log: Log) -> None:
    """C2, C3."""
    assert split(sample(SAMPLE)) == []

    messages = arrived(deployment)
    read = [json.loads(message.body) for message in messages]
    assert [body["index"] for body in read if body["orderId"] == "ord-2001"] == [0, 2, 4, 5]
    assert [body["index"] for body in read if body["orderId"] == "ord-2002"] == [1, 3]
    for message in messages:
        body = json.loads(message.body)
        assert message.attributes["MessageGroupId"] == body["orderId"]
        assert (body["ledgerId"], body["customerId"]) == ("2026-01-01-a", "customer-7")
    (done,) = log.of("Split")
    assert "6 entries" in done["reason"]


def test_a_ledger_that_comes_again_is_not_sent_again(deployment: Deployment) -> None:
    """C3: nor after the queue has forgotten what it saw."""
    split(sample(SAMPLE))
    arrived(deployment)

    assert split(sample(SAMPLE)) == []

    assert arrived(deployment) == []


def test_an_object_is_read_line_by_line(deployment: Deployment) -> None:
    """C8."""
    lines = put_object(23)

    assert split(sample(OBJECT)) == []

    assert sequences(arrived(deployment)) == sorted((line["orderId"], line["sequence"]) for line in lines)


def test_what_there_was_no_time_for_comes_back_at_once_and_is_done_by_the_next_run(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C3: nothing twice; the queue's own timeout would be six times the function's."""
    monkeypatch.setattr(ledgers, "CHUNK", 20)
    lines = put_object(23)
    url = deployment.sqs.create_queue(QueueName="ledgers.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    (record,) = sample(OBJECT)["Records"]
    deployment.sqs.send_message(
        QueueUrl=url, MessageBody=record["body"], MessageGroupId="customer-7", MessageDeduplicationId="d-1"
    )
    source = SqsSource.at(deployment.sqs, url)
    event = event_of(source.receive(1), source.arn)

    assert split(event, HARDLY_ANY) == [event["Records"][0]["messageId"]]

    assert len(source.receive(1)) == 1
    first = arrived(deployment)
    assert len(first) == 20
    assert split(event, HARDLY_ANY) == []
    assert sequences(first + arrived(deployment)) == sorted((line["orderId"], line["sequence"]) for line in lines)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ledgerId": None}, "ledgerId"),
        ({"entries": None}, "entries"),
        ({"entries": None, "objectKey": "../other"}, "objectKey"),
        ({"entries": None, "objectKey": "customer-7/nothing.jsonl"}, "objectKey"),
        ({"entries": []}, "entries"),
    ],
)
def test_a_ledger_that_cannot_be_split_is_rejected(deployment: Deployment, changes: dict[str, Any], field: str) -> None:
    assert split(batch(SAMPLE, [ledger_body(**changes)])) == []

    (reject,) = deployment.rejects()
    assert (reject["Field"]["S"], reject["Source"]["S"]) == (field, "ledgers.fifo")
    assert arrived(deployment) == []


def test_an_object_that_changed_on_the_way_is_not_read_on(deployment: Deployment) -> None:
    """Entries of both objects together would be a ledger that nobody wrote."""
    put_object(3, first='{"op":"add"}\n')
    deployment.lose("order-events")
    assert len(split(sample(OBJECT))) == 1
    put_object(4)

    assert split(sample(OBJECT)) == []

    reasons = {reject["Field"]["S"]: reject["Reason"]["S"] for reject in deployment.rejects()}
    assert "changed" in reasons["objectKey"]


def test_an_entry_that_names_no_order_is_rejected_and_the_others_go_on(deployment: Deployment) -> None:
    faulty = [*entries(2), {"op": "add"}, "not an object", *entries(3)[2:]]

    assert split(batch(SAMPLE, [ledger_body(entries=faulty)])) == []

    assert len(deployment.rejects()) == 2
    assert len(arrived(deployment)) == 3


def test_a_queue_that_takes_nothing_brings_the_ledger_back(deployment: Deployment) -> None:
    deployment.lose("order-events")

    assert split(batch(SAMPLE, [ledger_body()])) == ["m-0"]


def test_a_ledger_behind_one_that_failed_is_not_begun(deployment: Deployment) -> None:
    """C3: the ledgers of one customer in their order; the second would have an entry rejected at once."""
    deployment.lose("order-events")
    second = ledger_body(ledgerId="ledger-2", entries=[{"op": "add"}])

    assert split(batch(SAMPLE, [ledger_body(), second])) == ["m-0", "m-1"]

    assert deployment.rejects() == []


def test_a_customers_function_takes_no_others_ledgers(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7."""
    monkeypatch.setenv("STEPWARD_LEDGER_CUSTOMER", "customer-7")

    assert split(batch(SAMPLE, [ledger_body(), ledger_body(customerId="customer-8", ledgerId="l-2")])) == []

    assert len(arrived(deployment)) == 3
    (reject,) = deployment.rejects()
    assert reject["Field"]["S"] == "customerId"


@pytest.mark.parametrize("name", ["STEPWARD_LANES_QUEUE", "STEPWARD_LEDGERS_BUCKET", "STEPWARD_SHARED_RECORDS_TABLE"])
def test_a_missing_setting_is_named(deployment: Deployment, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert deployment.env
    monkeypatch.delenv(name)

    with pytest.raises(Misconfigured, match=name):
        ledger.handler(sample(SAMPLE), PLENTY)
