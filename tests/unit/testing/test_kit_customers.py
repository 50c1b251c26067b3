"""Two customers with the same order id: kept apart where the workflow says so, refused where it does not."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepward import App
from stepward.domain.convoy.commands import ReplaceEvent, SkipEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.domain.key import named
from stepward.testing import Engine, Order, Settings, crash_points, worlds
from stepward.testing.aws.engine import AwsEngine
from stepward.testing.harness import Harness
from tests.unit.testing.shop import ALL, app, charge, fulfilment, reserve

apart = replace(fulfilment, per_customer=True)
per_customer = App("shop", workflows=[apart])
CUSTOMERS = ("acme", "globex/eu")
CREATE = {"op": "create", "sequence": 1, "submittedAt": "2026-01-01T00:00:00Z"}
DELETE = {"op": "delete", "sequence": 2, "end": True}
OTHERS = "is 'globex'; the order is one of 'acme'"


def ledger(customer: str, *events: Mapping[str, Any], name: str = "L1") -> dict[str, Any]:
    return {"ledgerId": name, "customerId": customer, "entries": [{"orderId": "1042", **event} for event in events]}


def lane(engine: Engine, key: str = "1042") -> Lane:
    return engine.parts.lanes.lanes[key]


def rejected(engine: Engine) -> list[tuple[str, str]]:
    return [(reject.field, reject.reason) for reject in engine.rejects]


@pytest.fixture
def two() -> Engine:
    return Engine(per_customer)


def both(engine: Harness, **more: Any) -> list[Order]:
    return [engine.submit(apart, {"orderId": "1042", "customerId": each, **more}) for each in CUSTOMERS]


@pytest.mark.parametrize("sequenced", [True, False])
def test_another_customers_ledger_neither_creates_nor_deletes_nor_blocks(*, sequenced: bool) -> None:
    """Case 10: its shipped order was undone and refunded, and nobody was told."""

    def send(customer: str, *events: Mapping[str, Any], name: str = "L1") -> None:
        left_out = () if sequenced else ("sequence",)
        bare = [{field: value for field, value in event.items() if field not in left_out} for event in events]
        engine.send(ledger(customer, *bare, name=name))
        engine.run()

    with Engine(app, Settings(lane_rules=LaneRules(sequenced=sequenced))) as engine:
        send("acme", CREATE, {"op": "add", "sequence": 2, "amount": "1.00"})
        send("globex", CREATE, DELETE, {"op": "nonsense", "sequence": 3})

        order, left = engine.order("1042"), lane(engine)
        assert (order.state, order.effects, order.task.undoing) == ("Processed", ALL, "")
        assert rejected(engine) == [("customerId", OTHERS)] * 3
        assert (left.last, left.highest, left.blocked, left.customer_id) == (2, 2, None, "acme")
        assert (engine.alerts, list(left.offsets)) == ([], [] if sequenced else ["acme|L1"])

        send("acme", {"op": "add", "sequence": 3, "end": True}, name="L2")
        assert (lane(engine).last, lane(engine).end) == (3, 3)
        engine.verdict()


def test_another_customers_create_does_not_take_the_lane_of_an_order_that_came_by_its_queue(engine: Engine) -> None:
    order = engine.submit(fulfilment, {"orderId": "1042", "customerId": "acme"})
    engine.run()
    engine.send(ledger("globex", CREATE))
    engine.run()

    assert rejected(engine) == [("customerId", OTHERS)]
    assert (order.state, engine.parts.lanes.lanes, engine.alerts) == ("Processed", {}, [])


@pytest.mark.parametrize("ahead", [{"op": "add", "sequence": 2}, {"op": "add"}])
def test_an_event_that_comes_ahead_names_the_lanes_customer(engine: Engine, ahead: dict[str, Any]) -> None:
    """Parked, or without a position: it is there, and its customer's from then on."""
    engine.send(ledger("acme", ahead))
    engine.send(ledger("globex", {"op": "add", "sequence": 3}))
    engine.run()

    assert (lane(engine).customer_id, lane(engine).highest) == ("acme", ahead.get("sequence", 0))
    assert rejected(engine) == [("customerId", OTHERS)]


def test_an_event_that_names_no_customer_is_not_another_ones(engine: Engine) -> None:
    engine.send({"orderId": "1042", **CREATE})
    engine.run()
    engine.send(ledger("acme", {"op": "add", "sequence": 2}))
    engine.send({"orderId": "1042", "op": "add", "sequence": 3})
    engine.run()

    assert (lane(engine).last, lane(engine).customer_id, rejected(engine)) == (3, "acme", [])


@pytest.mark.parametrize(
    ("customer", "state", "rejects"),
    [("globex", "Processed", [("customerId", OTHERS)]), ("acme", "Undone", []), (None, "Undone", [])],
)
def test_only_the_orders_own_customer_cancels_it(
    engine: Engine, customer: str | None, state: str, rejects: list[tuple[str, str]]
) -> None:
    engine.service(charge).takes(50)
    order = engine.submit(fulfilment, {"orderId": "1042", "customerId": "acme"})
    engine.clock.move(10)
    by = {"customerId": customer} if customer else {}
    engine.post("orders", json.dumps({"type": "order.cancelled", "workflow": "fulfilment", "orderId": "1042", **by}))
    engine.run()

    assert (order.state, rejected(engine)) == (state, rejects)


def test_an_operator_cannot_replace_an_event_by_another_customers(engine: Engine) -> None:
    engine.send(ledger("acme", CREATE, {"op": "nonsense", "sequence": 2}))
    engine.run()
    body = '{"orderId": "1042", "op": "add", "sequence": 2, "customerId": "globex"}'

    engine.send(ReplaceEvent("1042", 2, body, "ada", "typo", "asked-1"))
    engine.run()
    (entry,) = engine.parts.assembly("any").convoy("any").convoy.audit_log.of("1042")
    assert entry.note == f"the new event is another customer's: customerId: {OTHERS}"

    engine.send(ReplaceEvent("1042", 2, body.replace("globex", "acme"), "ada", "typo", "asked-2"))
    engine.run()
    assert (lane(engine).last, lane(engine).blocked) == (2, None)


@pytest.mark.parametrize("kind", ["order.cancelled", "event"])
def test_a_workflow_that_the_application_does_not_have_is_a_reject(engine: Engine, kind: str) -> None:
    wanted = {"orderId": "1042", "workflow": "returns"}
    if kind == "event":
        engine.send({**wanted, **CREATE})
    else:
        engine.post("orders", f'{{"type": "{kind}", "orderId": "1042", "workflow": "returns"}}')
    engine.run()
    assert rejected(engine) == [("workflow", "is 'returns'; there are fulfilment")]


def test_the_orders_of_two_customers_with_one_id_live_side_by_side(two: Engine) -> None:
    """Submission, commands, notices: each is about one of them, and says which."""
    two.service(charge).takes(50)
    undone, processed = both(two)
    two.clock.move(10)
    undone.cancel()
    two.run()

    assert [undone.order_id, processed.order_id] == ["fulfilment~acme~1042", "fulfilment~globex/eu~1042"]
    assert (undone.state, processed.state, two.rejects) == ("Undone", "Processed", [])
    assert ("reserve/undo" in undone.effects, processed.effects) == (True, ALL)
    told = {(named(notice.order_id)["customerId"], notice.status) for notice in two.notices}
    assert {("acme", "undone"), ("globex/eu", "completed")} <= told
    assert not {("acme", "completed"), ("globex/eu", "undone")} & told
    keys = {call.idempotency_key for call in two.service(charge).calls}
    assert keys == {f"{order.order_id}/charge" for order in (undone, processed)}
    two.verdict()


def test_the_lanes_of_two_customers_with_one_order_id_are_apart(two: Engine) -> None:
    for customer in CUSTOMERS:
        two.send(ledger(customer, CREATE, {"op": "add", "sequence": 2}))
    two.send(ledger("acme", {"op": "add", "sequence": 4}, name="L2"))
    two.send(ledger("globex/eu", {"op": "delete", "sequence": 3, "end": True}, name="L2"))
    two.run()
    acme, globex = (two.order("1042", customer) for customer in CUSTOMERS)

    assert (acme.state, globex.state) == ("Processed", "Undone")
    assert (lane(two, acme.order_id).last, lane(two, globex.order_id).end) == (2, 3)
    two.send(SkipEvent(acme.order_id, 3, "ada", "never came", "asked-1"))
    two.run()
    assert (lane(two, acme.order_id).last, two.rejects) == (4, [])


@pytest.mark.parametrize("doors", ["orders", "events", "cancel"])
def test_where_customers_are_told_apart_every_message_names_one(two: Engine, doors: str) -> None:
    if doors == "events":
        two.send({"orderId": "1042", **CREATE})
    elif doors == "orders":
        two.submit(apart, {"orderId": "1042"})
    else:
        two.post("orders", '{"type": "order.cancelled", "orderId": "1042"}')
    two.run()
    assert rejected(two) == [("customerId", "is missing; the workflow fulfilment tells customers apart")]


@pytest.mark.parametrize("of", [per_customer, app])
def test_no_world_mixes_up_two_customers(of: App) -> None:
    """Two with the same order ids, or a stranger who cancels."""
    assert worlds(of, {"orderId": "1042", "customerId": "acme"}, seeds=8) == 8


def test_no_crash_point_mixes_up_two_customers() -> None:
    """A neighbour with the same id stays untouched, whoever dies when."""

    def neighbour(engine: Engine) -> None:
        engine.submit(apart, {"orderId": "1042", "customerId": "globex/eu"})

    def untouched(engine: Engine) -> None:
        assert [engine.order("1042", each).state for each in CUSTOMERS] == ["Processed", "Processed"]

    order = {"orderId": "1042", "customerId": "acme"}
    assert crash_points(per_customer, order, before=neighbour, after=untouched).points > 60


def test_the_real_functions_keep_two_customers_apart_from_door_to_mail() -> None:
    """The same on moto: rows, groups, notices and alerts carry the key, and outsiders read its parts."""
    with AwsEngine(per_customer) as engine:
        engine.service(reserve).declines("out of stock", times=1)
        failed, processed = both(engine)
        text = json.dumps(ledger("initech", CREATE))
        url = engine.stack.queues["ledgers"]
        engine.sqs.send_message(QueueUrl=url, MessageBody=text, MessageGroupId="initech", MessageDeduplicationId="1")
        engine.run()

        third = engine.order("1042", "initech")
        assert [order.state for order in (failed, processed, third)] == ["Error", "Processed", "Processed"]
        (alert,) = engine.alerts
        assert "Step reserve of order 1042 (workflow fulfilment, customer acme) ended in Error" in alert
        assert "  stepward show 1042 --customer acme " in alert
        assert '  stepward resubmit 1042 reserve --customer acme --why "..." ' in alert
        told = {(each["orderId"], each["workflow"], each["customerId"], each["status"]) for each in engine.notices}
        assert ("1042", "fulfilment", "acme", "failed") in told
        assert ("1042", "fulfilment", "globex/eu", "completed") in told
