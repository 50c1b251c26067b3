"""The function that applies order events, on the events that Lambda would hand to it."""

import json
from typing import Any

import pytest

from stepward.domain.convoy.commands import RetryLane, SkipEvent
from stepward.domain.convoy.lane import Alerted
from stepward.domain.errors import Misconfigured
from stepward.testing.sqs.lambda_events import LambdaContext
from stepward.wire.convoy import encode_command
from tests.integration.functions import convoy, submission
from tests.integration.handlers.conftest import Log
from tests.integration.handlers.deployment import PLENTY, Deployment, Event, failed, order_body, sample
from tests.integration.handlers.deployment import batch as orders
from tests.integration.handlers.test_ledger import HUGE_TEXTS

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
    return deployment.received("order-events")


@pytest.mark.parametrize("huge", HUGE_TEXTS, ids=range(len(HUGE_TEXTS)))
def test_an_event_whose_fault_is_huge_is_kept_and_does_not_come_back(deployment: Deployment, huge: Any) -> None:
    """C1, case 17: or it blocks the lane of its order alone."""
    event = batch(create(A), json.dumps(huge), create(B), groups={1: "a group"})
    assert failed(convoy.handler(event, CONTEXT)) == []

    assert (deployment.lane(A).last, deployment.lane(B).last) == (1, 1)
    assert len(deployment.rejects()) + (deployment.lanes.load("ord-9") is not None) == 1


def test_the_events_of_each_order_are_applied_in_their_sequence(deployment: Deployment) -> None:
    """C1, C4, C5."""
    assert failed(convoy.handler(sample(SAMPLE), CONTEXT)) == []

    first, second = deployment.lane(A), deployment.lane(B)
    assert (first.last, first.end, first.deleted) == (4, 4, 0)
    assert (second.last, second.end, second.deleted) == (2, 2, 2)
    assert [stored.event.op for stored in first.recent if stored.event.op] == ["create", "add", "modify", "add"]


def test_a_create_submits_the_order_and_a_delete_takes_it_back(deployment: Deployment) -> None:
    """C2: with the same use case as an order message."""
    convoy.handler(sample(SAMPLE), CONTEXT)

    assert deployment.order_ids() == {A, B}
    assert not deployment.task(A).undoing
    assert deployment.task(B).undoing
    sent = [json.loads(body) for body in deployment.taken("scheduler")]
    assert {"type": "task.start", "orderId": A} in sent


def test_the_whole_batch_delivered_again_changes_nothing(deployment: Deployment, log: Log) -> None:
    """S18."""
    convoy.handler(sample(SAMPLE), CONTEXT)
    before = deployment.lane(A), deployment.lane(B), deployment.task(A)
    log.read()

    assert failed(convoy.handler(sample(SAMPLE), CONTEXT)) == []

    assert (deployment.lane(A), deployment.lane(B), deployment.task(A)) == before
    assert len(log.of("Duplicate")) == 6


def test_what_is_ahead_waits_and_is_applied_when_the_gap_closes(deployment: Deployment) -> None:
    """C5."""
    assert work(create(A), entry(A, 4), entry(A, 3)) == []
    assert (deployment.lane(A).last, deployment.lane(A).highest) == (1, 4)
    assert deployment.lane(A).due is not None

    assert work(entry(A, 2)) == []

    lane = deployment.lane(A)
    assert (lane.last, lane.gap_since, lane.due) == (4, None, None)


def test_a_poison_event_blocks_its_order_only_and_an_operator_is_alerted_once(deployment: Deployment) -> None:
    """C6."""
    poison = entry(A, 2, amount="much")
    for _ in range(2):
        assert work(create(A), create(B), poison, entry(A, 3), entry(B, 2)) == []

    lane = deployment.lane(A)
    assert lane.blocked is not None
    assert (lane.blocked.position, lane.last, lane.alerted) == (2, 1, Alerted.BLOCKED)
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
    assert (lane.blocked, lane.last, lane.done) == (None, 4, ("asked-1",))
    (row,) = deployment.lanes.rows(A, 2, 1)
    assert row.skipped == "skipped by ada: lost at the till"


def test_a_command_that_is_refused_is_in_the_audit_log_and_stops_nothing(deployment: Deployment, log: Log) -> None:
    work(create(A))

    assert work(encode_command(RetryLane(A, "ada", "try", "asked-1")), entry(A, 2)) == []

    assert deployment.lane(A).last == 2
    (refused,) = log.of("Refused")
    assert "nothing to retry" in refused["reason"]


@pytest.mark.parametrize(
    ("body", "field"), [("not JSON", "(body)"), ('{"op":"add"}', "orderId"), ("[]", "(body)"), ("7", "(body)")]
)
def test_what_names_no_order_is_rejected_and_stops_no_neighbour(deployment: Deployment, body: str, field: str) -> None:
    event = batch(create(A), body, entry(A, 2), groups={1: "a/b"})

    assert failed(convoy.handler(event, CONTEXT)) == []

    (reject,) = deployment.rejects()
    assert (reject["Field"]["S"], reject["Body"]["B"]) == (field, body.encode())
    assert deployment.lane(A).last == 2


@pytest.mark.parametrize("body", ["not JSON", '{"op":"add"}', "[]", "7", '{"orderId":"ord-2001","x":NaN}', entry(A, 2)])
def test_what_only_its_group_names_or_what_came_in_a_foreign_group_blocks_its_lane(
    deployment: Deployment, body: str
) -> None:
    """C6: passed over, it would be missing, and the next event would be applied in its place."""
    event = batch(create(A), create(B), body, entry(A, 3), groups={2: B if body == entry(A, 2) else A})

    assert failed(convoy.handler(event, CONTEXT)) == []

    assert (deployment.lane(A).last, deployment.lane(B).last) == (1, 1)
    assert deployment.lane(A).blocked
    assert not deployment.lane(B).blocked
    assert deployment.rejects() == []


def test_a_failure_holds_its_own_order_back_and_no_other(deployment: Deployment, log: Log) -> None:
    """C4, C6: the create's effect cannot be had, so nothing after it is tried."""
    work(create(B))
    deployment.lose("scheduler")
    event = batch(create(A), entry(B, 2), entry(A, 2))
    log.read()

    assert failed(convoy.handler(event, CONTEXT)) == ["m-0", "m-2"]

    assert deployment.lane(B).last == 2
    assert {line["message_id"] for line in log.of("Returned")} == {"m-0"}


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
    assert [round(each) for each in deployment.hidden_for("order-events")] == [seconds, seconds]


def test_a_message_that_cannot_be_hidden_is_brought_back_all_the_same(deployment: Deployment, log: Log) -> None:
    event = batch(create(A), entry(A, 2))
    deployment.lose("scheduler")
    log.read()

    assert failed(convoy.handler(event, CONTEXT)) == ["m-0", "m-1"]

    assert len(log.of("Returned")) == 2


def test_without_sequences_the_queues_order_counts(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
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


def reasons(deployment: Deployment) -> list[tuple[str, str, str]]:
    return [(row["OrderID"]["S"], row["Field"]["S"], row["Reason"]["S"]) for row in deployment.rejects()]


def test_another_customers_events_change_nothing_in_the_lane_or_the_order(deployment: Deployment) -> None:
    """Case 10: its create was a duplicate, and its delete undid and refunded a shipped order."""
    acme, globex = ({"customerId": customer, "ledgerId": "L1"} for customer in ("acme", "globex"))
    work(create(A, **acme))
    before = deployment.lane(A), deployment.task(A)

    assert work(create(A, **globex), entry(A, 2, "delete", end=True, **globex)) == []

    assert (deployment.lane(A), deployment.task(A)) == before
    assert reasons(deployment) == [(A, "customerId", "is 'globex'; the order is one of 'acme'")] * 2
    assert work(entry(A, 2, **acme)) == []
    assert (deployment.lane(A).last, deployment.lane(A).customer_id) == (2, "acme")


def test_another_customers_create_leaves_no_lane_behind(deployment: Deployment) -> None:
    """The order came by its own queue, so it has no lane that would know its customer."""
    submission.handler(orders("sqs-order-plain.json", [order_body(A, customerId="acme")]), PLENTY)

    assert work(create(A, customerId="globex")) == []

    assert reasons(deployment) == [(A, "customerId", "is 'globex'; the order is one of 'acme'")]
    assert deployment.lanes.load(A) is None
