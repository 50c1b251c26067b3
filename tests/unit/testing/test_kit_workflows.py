"""Two workflows in one application: the type of an order message says which one it is for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from stepward import App, Call, OrderMessage, Step, Workflow, minutes
from stepward.domain.key import named
from stepward.testing import Engine, crash_points, worlds
from stepward.testing.aws.engine import AwsEngine
from stepward.testing.harness import Harness
from stepward.testing.settings import REPLY_TO
from tests.unit.testing.shop import ALL, bank, fulfilment, warehouse


class Return(OrderMessage, frozen=True, kw_only=True):
    """Goods that come back."""

    type: Literal["return.submitted"]
    reason: str


@warehouse.operation
def receive(call: Call) -> Mapping[str, Any]:
    return {"received": call.order["reason"]}


@warehouse.operation
def send_back(_: Call) -> Mapping[str, Any]:
    return {}


@bank.operation
def pay_back(call: Call) -> Mapping[str, Any]:
    return {"paid": call.results["receive"]["received"]}


@bank.operation
def claim_back(_: Call) -> Mapping[str, Any]:
    return {}


returns = Workflow(
    "returns",
    version=1,
    order=Return,
    steps=[
        Step(receive, undo=send_back, complete_within=minutes(1)),
        Step(pay_back, undo=claim_back, complete_within=minutes(1)),
    ],
)
app = App("shop", workflows=[returns, fulfilment], default=fulfilment)
BACK = {"orderId": "1042", "reason": "too small"}
CREATE = {"orderId": "1042", "op": "create", "sequence": 1, "submittedAt": "2026-01-01T00:00:00Z"}
TYPES = "'return.shipped'; an order's is order.submitted or return.submitted"


@pytest.fixture(params=[Engine, AwsEngine], ids=["memory", "aws"])
def both(request: pytest.FixtureRequest) -> Iterator[Harness]:
    with request.param(app) as found:
        yield found


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(app) as found:
        yield found


def told(engine: Engine) -> set[tuple[str | None, str]]:
    """The workflow and the status of each notice."""
    return {(named(notice.order_id, "fulfilment")["workflow"], notice.status) for notice in engine.notices}


def test_one_order_id_is_two_orders_in_two_workflows(both: Harness) -> None:
    """W1: each has the plan, the message class, the key and the idempotency keys of its own workflow."""
    order, back = both.submit(fulfilment, {"orderId": "1042"}), both.submit(returns, BACK)
    both.run()

    assert (order.order_id, back.order_id) == ("1042", "returns~~1042")
    assert (order.state, order.effects) == ("Processed", ALL)
    assert (back.state, back.effects, back.result(pay_back)) == (
        "Processed",
        ["receive", "pay_back"],
        {"paid": "too small"},
    )
    assert [call.idempotency_key for call in both.service(pay_back).calls] == ["returns~~1042/pay_back"]
    assert both.rejects == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"type": "return.shipped"}, ("type", f"is {TYPES}")),
        ({"type": "x" * 300}, ("type", f"is '{'x' * 40}'{TYPES[16:]}")),
        ({"type": "return.submitted"}, ("reason", "is missing")),
        ({"type": "return.submitted", "reason": "x", "priority": "HIGH"}, ("priority", "Invalid enum value 'HIGH'")),
    ],
)
def test_a_message_of_no_workflow_or_against_its_class_is_a_reject(
    engine: Engine, content: dict[str, str], reason: tuple[str, str]
) -> None:
    """W1: its sender is told if the type is one of the application's."""
    engine.submit(None, {"orderId": "1042", "replyTo": REPLY_TO, **content})
    engine.run()

    assert [(reject.field, reject.reason) for reject in engine.rejects] == [reason]
    assert len(engine.parts.notices.rejected) == (content["type"] == "return.submitted")
    assert engine.parts.store.tasks == {}


@pytest.mark.parametrize(
    ("workflow", "states"), [("returns", ["Processed", "Undone"]), ("", ["Undone", "Processed"])], ids=str
)
def test_a_cancellation_names_its_workflow_or_means_the_default_one(
    engine: Engine, workflow: str, states: list[str]
) -> None:
    """W1, S19: the same when it comes before its order."""
    which = {"workflow": workflow} if workflow else {}
    engine.post("orders", json.dumps({"type": "order.cancelled", "orderId": "1042", **which}))
    engine.run()

    orders = [engine.submit(fulfilment, {"orderId": "1042"}), engine.submit(returns, BACK)]
    engine.run()

    assert [order.state for order in orders] == states
    assert (workflow or "fulfilment", "undone") in told(engine)
    engine.verdict()


def test_commands_reach_the_order_of_their_workflow(engine: Engine) -> None:
    """W1."""
    engine.service(pay_back).declines("no account")
    order, back = engine.submit(fulfilment, {"orderId": "1042"}), engine.submit(returns, BACK)
    engine.run()
    assert [(alert.order_id, alert.reason) for alert in engine.alerts] == [("returns~~1042", "no account")]

    engine.service(pay_back).works()
    back.resubmit(pay_back)
    engine.run()
    back.undo()
    engine.run()

    assert (order.state, order.effects, back.state) == ("Processed", ALL, "Undone")
    assert back.effects == ["receive", "pay_back", "pay_back/undo", "receive/undo"]


def test_an_event_goes_to_the_lane_of_its_workflow_and_a_create_submits_under_its_type(engine: Engine) -> None:
    """W1: two lanes of one order id, and the return goes by its own class and plan."""
    engine.send({**CREATE, **BACK, "workflow": "returns"})
    engine.send(CREATE)
    engine.send({"orderId": "1042", "op": "add", "sequence": 2, "workflow": "returns", "end": True})
    engine.run()

    lanes, bodies = engine.parts.lanes.lanes, engine.parts.store.orders
    assert {key: (lane.last, lane.end) for key, lane in lanes.items()} == {"1042": (1, 0), "returns~~1042": (2, 2)}
    assert {key: json.loads(order.body)["type"] for key, order in bodies.items()} == {
        "1042": "order.submitted",
        "returns~~1042": "return.submitted",
    }
    assert engine.order("1042", workflow="returns").effects == ["receive", "pay_back"]
    assert "workflow" not in json.loads(bodies["returns~~1042"].body)

    engine.send({**CREATE, "orderId": "1043", "workflow": "returns"})
    engine.run()
    blocked = lanes["returns~~1043"].blocked
    assert (blocked and blocked.reason, engine.order("1042").state) == ("reason: is missing", "Processed")


@pytest.mark.parametrize("more", [{"type": "return.submitted"}, {}])
def test_no_accident_harms_an_order_of_either_workflow(more: dict[str, str]) -> None:
    """W1: with deaths, duplicates, cancellations, commands and misbehaving services."""
    undone = replace(fulfilment, steps=fulfilment.steps[:2])
    assert worlds(App("shop", [returns, undone], undone), {**BACK, **more}, seeds=6) == 6


def test_no_crash_point_mixes_up_two_workflows() -> None:
    """W1, I2: the other order of that id stays as it is, whoever dies when."""

    def neighbour(engine: Engine) -> None:
        engine.submit(fulfilment, {"orderId": "1042"})

    def untouched(engine: Engine) -> None:
        order, back = engine.order("1042"), engine.order("1042", workflow="returns")
        assert [(each.state, each.effects) for each in (order, back)] == [
            ("Processed", ALL),
            ("Processed", ["receive", "pay_back"]),
        ]

    assert crash_points(app, {**BACK, "type": "return.submitted"}, before=neighbour, after=untouched).points > 60
