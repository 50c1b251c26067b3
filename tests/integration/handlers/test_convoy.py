"""The function that applies order events, on the events that Lambda would hand to it."""

import json
import time
from typing import Any

import pytest
from moto.core.models import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.sqs.models import sqs_backends

import convoy
from stepward.domain.convoy.commands import RetryLane, SkipEvent
from stepward.domain.convoy.lane import Alerted as LaneTold
from stepward.domain.errors import Misconfigured
from stepward.local.access import REGION
from stepward.testing.sqs.lambda_events import LambdaContext, event_of
from stepward.testing.sqs.source import SqsSource
from stepward.wire.convoy import encode_command
from tests.integration.handlers.conftest import Told
from tests.integration.handlers.deployment import Deployment, Event, failed, sample

SAMPLE = "sqs-order-events.json"
A, B = "ord-2001", "ord-2002"
CONTEXT = LambdaContext("convoy", "r-1", ends_at=10_000, clock=lambda: 0)


def entry(order_id: str, sequence: Any, op: str = "add", **content: Any) -> str:
    usual: dict[str, Any] = {"amount": "1.00"} if op == "add" else {}
    return json.dumps({"orderId": order_id, "sequence": sequence, "op": op, **usual, **content})


def create(order_id: str, **content: Any) -> str:
    (record, *_) = sample(SAMPLE)["Records"]
    return json.dumps(json.loads(record["body"]) | {"orderId": order_id, "sequence": 1, **content})


def batch(*bodies: str, groups: dict[int, str] | None = None) -> Event:
    """A batch of these events, m-0, m-1 and so on, each in the group of its order or in the one that is said."""
    (record, *_) = sample(SAMPLE)["Records"]
    records = []
    for number, body in enumerate(bodies):
        group = (groups or {}).get(number) or json.loads(body)["orderId"]
        attributes = {**record["attributes"], "MessageGroupId": group}
        records.append({**record, "messageId": f"m-{number}", "body": body, "attributes": attributes})
    return {"Records": records}


def work(*bodies: str) -> list[str]:
    return failed(convoy.handler(batch(*bodies), CONTEXT))


def taken(deployment: Deployment, *bodies: str) -> Event:
    """Events as they lie in their queue, taken out for 30 seconds, as Lambda hands them over."""
    for number, body in enumerate(bodies):
        deployment.sqs.send_message(
            QueueUrl=deployment.queues["order-events"],
            MessageBody=body,
            MessageGroupId=json.loads(body)["orderId"],
            MessageDeduplicationId=f"d-{number}",
        )
    source = SqsSource.at(deployment.sqs, deployment.queues["order-events"])
    return event_of(source.receive(10), source.arn)


def hidden_for(deployment: Deployment) -> list[int]:
    """The whole seconds until each message of the queue is visible, which no call to SQS tells."""
    name = deployment.queues["order-events"].rpartition("/")[2]
    now = time.time_ns() // 1_000_000
    messages = sqs_backends[ACCOUNT_ID][REGION].queues[name]._messages
    return [round((message.visible_at - now) / 1000) for message in messages]


def said(told: Told, kind: str) -> list[dict[str, Any]]:
    return [line for line in told() if line.get("message") == kind]


def test_the_events_of_each_order_are_applied_in_their_sequence(deployment: Deployment) -> None:
    """C1, C4, C5."""
    assert failed(convoy.handler(sample(SAMPLE), CONTEXT)) == []

    first, second = deployment.lane(A), deployment.lane(B)
    assert (first.last, first.end, first.deleted) == (4, 4, 0)
    assert (second.last, second.end, second.deleted) == (2, 2, 2)
    assert [kept.event.op for kept in first.recent if kept.event.op] == ["create", "add", "modify", "add"]


def test_a_create_submits_the_order_and_a_delete_takes_it_back(deployment: Deployment) -> None:
    """C2: with the same use case as an order message."""
    convoy.handler(sample(SAMPLE), CONTEXT)

    assert deployment.order_ids() == {A, B}
    assert not deployment.task(A).undoing
    assert deployment.task(B).undoing
    told = [json.loads(body) for body in deployment.taken("scheduler")]
    assert {"type": "task.start", "orderId": A} in told


def test_the_whole_batch_delivered_again_changes_nothing(deployment: Deployment, told: Told) -> None:
    """S18."""
    convoy.handler(sample(SAMPLE), CONTEXT)
    before = deployment.lane(A), deployment.lane(B), deployment.task(A)
    told()

    assert failed(convoy.handler(sample(SAMPLE), CONTEXT)) == []

    assert (deployment.lane(A), deployment.lane(B), deployment.task(A)) == before
    assert len(said(told, "Duplicate")) == 6


def test_what_is_ahead_waits_and_is_applied_when_the_gap_closes(deployment: Deployment) -> None:
    """C5."""
    assert work(create(A), entry(A, 4), entry(A, 3)) == []
    assert (deployment.lane(A).last, deployment.lane(A).highest) == (1, 4)
    assert deployment.lane(A).due is not None

    assert work(entry(A, 2)) == []

    lane = deployment.lane(A)
    assert (lane.last, lane.gap_since, lane.due) == (4, None, None)


def test_a_poison_event_blocks_its_order_only_and_an_operator_is_told_once(deployment: Deployment) -> None:
    """C6."""
    poison = entry(A, 2, amount="much")
    for _ in range(2):
        assert work(create(A), create(B), poison, entry(A, 3), entry(B, 2)) == []

    lane = deployment.lane(A)
    assert lane.blocked is not None
    assert (lane.blocked.position, lane.last, lane.told) == (2, 1, LaneTold.BLOCKED)
    assert "amount" in lane.blocked.reason
    assert list(deployment.lanes.needing_attention()) == [A]
    assert deployment.lane(B).last == 2
    (notice,) = [json.loads(body) for body in deployment.taken("inbox")]
    assert notice["MessageAttributes"]["orderId"]["Value"] == A


def test_an_operators_command_comes_in_its_turn(deployment: Deployment) -> None:
    """C6: skipped visibly, and what waited is applied in order, with what came behind the command in the batch."""
    skip = encode_command(SkipEvent(A, 2, "ada", "lost at the till", "asked-1"))
    work(create(A), entry(A, 2, "modify"), entry(A, 3))

    assert work(skip, entry(A, 4)) == []

    lane = deployment.lane(A)
    assert (lane.blocked, lane.last, lane.done) == (None, 4, "asked-1")
    (row,) = deployment.lanes.rows(A, 2, 1)
    assert row.skipped == "skipped by ada: lost at the till"


def test_a_command_that_is_refused_is_kept_in_the_trail_and_stops_nothing(deployment: Deployment, told: Told) -> None:
    work(create(A))

    assert work(encode_command(RetryLane(A, "ada", "try", "asked-1")), entry(A, 2)) == []

    assert deployment.lane(A).last == 2
    (refused,) = said(told, "Refused")
    assert "nothing to retry" in refused["reason"]


@pytest.mark.parametrize(
    ("body", "field"), [("not JSON", "(body)"), ('{"op":"add"}', "orderId"), ("[]", "(body)"), ("7", "(body)")]
)
def test_what_names_no_order_is_kept_and_stops_no_neighbour(deployment: Deployment, body: str, field: str) -> None:
    event = batch(create(A), body, entry(A, 2), groups={1: A})

    assert failed(convoy.handler(event, CONTEXT)) == []

    (kept,) = deployment.kept()
    assert (kept["Field"]["S"], kept["Body"]["B"]) == (field, body.encode())
    assert deployment.lane(A).last == 2


def test_orders_that_share_a_group_are_each_applied(deployment: Deployment) -> None:
    """Whoever sends events directly may have put them into one group."""
    event = batch(create(A), create(B), entry(A, 2), entry(B, 2), groups=dict.fromkeys(range(4), "shop"))

    assert failed(convoy.handler(event, CONTEXT)) == []

    assert (deployment.lane(A).last, deployment.lane(B).last) == (2, 2)


def test_a_failure_holds_its_own_order_back_and_no_other(deployment: Deployment, told: Told) -> None:
    """C4, C6: the create's effect cannot be had, so nothing after it is tried."""
    work(create(B))
    deployment.lose("scheduler")
    event = batch(create(A), entry(B, 2), entry(A, 2))
    told()

    assert failed(convoy.handler(event, CONTEXT)) == ["m-0", "m-2"]

    assert deployment.lane(B).last == 2
    assert {line["message_id"] for line in said(told, "Returned")} == {"m-0"}


def test_a_lane_that_cannot_be_read_stops_its_own_order_only(deployment: Deployment) -> None:
    key = {"OrderID": {"S": A}, "Position": {"S": "lane"}}
    deployment.dynamodb.put_item(TableName=deployment.lanes_table, Item={**key, "Recent": {"S": "garbage"}})

    assert work(create(A), create(B), entry(B, 2)) == ["m-0"]

    assert deployment.lane(B).last == 2


@pytest.mark.parametrize(("times", "seconds"), [(1, 1), (2, 2), (4, 8), (9, 256), (10, 300), (40, 300)])
def test_what_failed_comes_back_soon_and_ever_less_often(deployment: Deployment, times: int, seconds: int) -> None:
    """The queue's own timeout would hold its group up for longer; every message of it counts."""
    event = taken(deployment, create(A), entry(A, 2))
    for record in event["Records"]:
        record["attributes"]["ApproximateReceiveCount"] = str(times)
    deployment.lose("scheduler")

    answer = convoy.handler(event, CONTEXT)

    assert failed(answer) == [record["messageId"] for record in event["Records"]]
    assert hidden_for(deployment) == [seconds, seconds]


def test_a_message_that_cannot_be_hidden_is_brought_back_all_the_same(deployment: Deployment, told: Told) -> None:
    event = batch(create(A), entry(A, 2))
    deployment.lose("scheduler")
    told()

    assert failed(convoy.handler(event, CONTEXT)) == ["m-0", "m-1"]

    assert len(said(told, "Returned")) == 2


def test_without_sequence_numbers_the_queues_order_counts(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPWARD_SEQUENCES", "optional")
    bodies = [json.loads(create(A)), json.loads(entry(A, 2)), json.loads(entry(A, 3))]
    for index, body in enumerate(bodies):
        del body["sequence"]
        body |= {"ledgerId": "ledger-1", "index": index, "customerId": "customer-7"}
    texts = [json.dumps(body) for body in bodies]

    for _ in range(2):
        assert work(*texts) == []

    lane = deployment.lane(A)
    assert (lane.sequenced, lane.last, lane.blocked) == (False, 3, None)


@pytest.mark.parametrize(("name", "value"), [("STEPWARD_LANES_TABLE", ""), ("STEPWARD_SEQUENCES", "sometimes")])
def test_a_setting_that_is_missing_or_wrong_is_named(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    assert deployment.env
    monkeypatch.setenv(name, value)

    with pytest.raises(Misconfigured, match=name):
        convoy.handler(sample(SAMPLE), CONTEXT)
