"""Undelivered ledgers and order events go back in their order, under the group they had."""

import json
from typing import Any
from uuid import uuid4

import pytest

from stepward.domain.coordination.shared_record import SharedRecord
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli_convoy.lane_lives import entry

pytestmark = pytest.mark.cloud


def bury(shop: Shop, queue: str, group: str, *bodies: str) -> None:
    url = shop.connection.deployment.dead_letters[queue].dead
    for body in bodies:
        name = f"first-{uuid4().hex}"
        shop.sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=name)


def waiting(shop: Shop, queue: str) -> list[dict[str, Any]]:
    url = shop.connection.deployment.dead_letters[queue].source
    found: list[dict[str, Any]] = []
    wanted: list[Any] = ["MessageGroupId", "MessageDeduplicationId"]
    while True:
        answer = shop.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=wanted).get(
            "Messages", []
        )
        if not answer:
            return found
        for message in answer:
            found.append({"body": json.loads(message["Body"])} | dict(message["Attributes"]))
            shop.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def redriven(run: Run, queue: str, *options: str) -> list[str]:
    told = json.loads(run("dead-letters", "redrive", queue, "--json", *options).stdout)
    return [each["action"] for each in told["messages"]]


def test_the_events_of_an_order_go_back_in_their_order_however_many(run: Run, shop: Shop) -> None:
    """FIELD_CASES 20, 21: more than a queue gives at once, each under its group and a new id."""
    events = [entry(position, amount=position) for position in range(2, 27)]
    bury(shop, "order-events", "ord-1", *map(json.dumps, events))

    assert redriven(run, "order-events") == ["sent"] * 25
    found = waiting(shop, "order-events")
    assert [each["body"]["sequence"] for each in found] == list(range(2, 27))
    assert {each["MessageGroupId"] for each in found} == {"ord-1"}
    assert all(not each["MessageDeduplicationId"].startswith("first-") for each in found)
    assert redriven(run, "order-events") == []


def test_what_the_lane_has_had_stays_or_is_dropped(run: Run, shop: Shop) -> None:
    """FIELD_CASES 77."""
    shop.lane().bring(entry(1, "create"), entry(2, amount=2))
    bury(shop, "order-events", "ord-1", *(json.dumps(entry(position, amount=position)) for position in (2, 3)))

    assert redriven(run, "order-events", "--drop-stale") == ["dropped", "sent"]
    assert [each["body"]["sequence"] for each in waiting(shop, "order-events")] == [3]


def test_a_look_at_a_queue_of_events_takes_none_away_and_says_that_it_may_not_show_all(run: Run, shop: Shop) -> None:
    bury(shop, "order-events", "ord-1", *(json.dumps(entry(position)) for position in range(1, 15)))
    for _ in range(2):
        told = json.loads(run("dead-letters", "show", "order-events", "--json").stdout)
        assert [each["what"] for each in told["messages"]] == [f"event {position}: add" for position in range(1, 11)]
        assert told["more"] is True


def test_ledgers_go_back_to_their_customers_group(run: Run, shop: Shop) -> None:
    """C2: the ledgers of one customer stay in their order."""
    bodies = [{"ledgerId": f"l-{n}", "customerId": "shop", "entries": [entry(1, "create")]} for n in range(3)]
    bury(shop, "ledgers", "shop", *map(json.dumps, bodies))

    assert redriven(run, "ledgers") == ["sent"] * 3
    found = waiting(shop, "ledgers")
    assert [each["body"]["ledgerId"] for each in found] == ["l-0", "l-1", "l-2"]
    assert {each["MessageGroupId"] for each in found} == {"shop"}


def test_nothing_of_a_customer_goes_past_a_ledger_that_cannot_be_judged(run: Run, shop: Shop) -> None:
    """C2: other customers' ledgers go on."""
    damaged = SharedRecord("ledger/shop/l-0", 1, {"surplus": 1})
    assert shop.connection.shared_records.write(damaged, replaces=None)
    for customer in ("shop", "other"):
        bodies = [{"ledgerId": f"l-{n}", "customerId": customer, "entries": [entry(1, "create")]} for n in range(2)]
        bury(shop, "ledgers", customer, *map(json.dumps, bodies))

    assert sorted(redriven(run, "ledgers")) == ["kept", "kept", "sent", "sent"]
    assert {each["MessageGroupId"] for each in waiting(shop, "ledgers")} == {"other"}
