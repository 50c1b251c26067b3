"""Steps that are done for each item of a list: W5, I1, I3, I4, I6, I12, I13."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from stepward import UNDO, Each, Fallback, Later, Step, Timer, Workflow, WorkflowError, days, minutes, ref
from stepward.domain.messages import ItemRequest
from stepward.domain.task.lacking import needed
from stepward.domain.task.worst_case import worst_case
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.testing.crash import crash_points
from stepward.wire.messages import decode_request, encode
from tests.unit.steps.parcels import PACK, SHIP, Sale, app, begun, charge, close, parcels, recall, ship


def test_each_item_has_a_step_of_its_own_and_their_results_are_one_list() -> None:
    """W5, I3: a step after it waits for all of them."""
    engine, order = begun(app(), 3)
    engine.run()
    assert order.state == "Processed"
    assert order.effects == ["charge", *(f"parcels[{at}]" for at in range(3)), "close"]
    assert order.result("parcels") == order.result(close) == {"items": parcels(3)}
    assert [call.order.get("parcels") for call in engine.service(ship).calls] == [None] * 3, "nobody carries the list"
    engine.verdict()


def test_so_many_are_under_way_at_once_and_each_end_begins_the_next() -> None:
    """W5: forward, and back again."""
    engine, order = begun(app(at_once=2), 4)
    for operation in (ship, recall):
        engine.service(operation).takes(10)
    engine.run(lambda: len(engine.service(ship).calls) == 2)
    engine.clock.move(5)
    assert [name for name in order.task.steps if "[" in name] == ["parcels[0]", "parcels[1]"]
    engine.clock.move(10)
    assert [str(order.step(f"parcels[{at}]").process_state) for at in range(4)] == ["Processed"] * 2 + [
        "Processing"
    ] * 2
    engine.run()
    order.undo()
    engine.run(lambda: len(engine.service(recall).calls) == 2)
    engine.clock.move(5)
    assert engine.calls[-2:] == ["parcels[2]/undo", "parcels[3]/undo"]
    engine.run()
    assert order.state == "Undone"
    assert order.timeline.count("Completed: parcels at") == 1
    engine.verdict()


def test_the_undo_goes_through_the_items_and_their_steps_in_reverse() -> None:
    """I6, I13."""
    engine, order = begun(app(PACK, SHIP, at_once=1), 2)
    engine.run()
    order.undo()
    engine.run()
    items = [f"parcels[{at}].{part}" for at in range(2) for part in ("pack", "ship")]
    done = ["charge", *items, "close"]
    assert order.effects == [*done, *(f"{name}/undo" for name in reversed(done))]
    engine.verdict()


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({"parcels": {}}, "order.parcels is an object, which 'parcels' does for each item of; expected a list"),
        ({"parcels": "two"}, "order.parcels is 'two', which"),
    ],
)
def test_what_is_no_list_is_an_error_that_names_the_field(order: dict[str, Any], says: str) -> None:
    """I1: a resubmission cannot help, an undo can."""
    shop = app(when=ref.order("parcels").exists())
    plain = replace(shop, workflows=[replace(shop.workflows[0], order=None)])
    engine, placed = begun(plain, 0, **order)
    engine.run()
    assert (placed.state, len(engine.alerts)) == ("Error", 1)
    assert (placed.step("parcels").error or "").startswith(says)
    placed.undo()
    engine.run()
    assert placed.effects == ["charge", "charge/undo"]
    engine.verdict()


def test_a_list_without_items_is_done_at_once() -> None:
    engine, order = begun(app(), 0)
    engine.run()
    assert (order.state, order.result(close)) == ("Processed", {"items": []})
    assert order.step("parcels").ended_at == order.step("parcels").started_at
    engine.verdict()


def test_an_item_without_its_condition_is_skipped_and_never_undone() -> None:
    """I12: the condition reads the item, and the earlier steps of that item by their names."""
    light = Step(ship, undo=recall, complete_within=minutes(1), when=ref.item("weight") < 2)
    heavy = replace(PACK, when=ref.result("ship", "weight", default=9) > 1)
    engine, order = begun(app(light, heavy, at_once=1), 3)
    engine.run()
    assert order.effects == ["charge", "parcels[0].ship", "parcels[1].ship", "parcels[2].pack", "close"]
    assert order.result(close) == {"items": [None, None, {"box": 2}]}
    order.undo()
    engine.run()
    assert order.effects[5:] == [
        "close/undo",
        "parcels[2].pack/undo",
        *(f"parcels[{at}].ship/undo" for at in (1, 0)),
        "charge/undo",
    ]
    engine.verdict()


def test_an_order_without_the_condition_of_the_each_has_no_items() -> None:
    """I12."""
    engine, order = begun(app(when=ref.order("note").exists()), 3)
    engine.run()
    assert order.effects == ["charge", "close"]
    assert order.result("parcels") == {"items": []}


def test_an_item_that_fails_halts_the_order_and_goes_on_where_it_was() -> None:
    """I1, I3: the others end, and none begins. Trap: a list is done although some of its items failed."""
    engine, order = begun(app(at_once=2), 4)
    engine.service(ship).declines("no address", times=1)
    engine.run()
    assert (order.state, [alert.alert_id for alert in engine.alerts]) == ("Error", ["1/parcels[0]/1"])
    assert [str(order.step(f"parcels[{at}]").process_state) for at in range(3)] == ["Error", "Processed", "Pending"]
    assert order.task.due is None
    order.resubmit("parcels[0]")
    engine.run()
    assert order.state == "Processed"
    assert sorted(order.effects) == sorted(["charge", *(f"parcels[{at}]" for at in range(4)), "close"])
    engine.verdict()


def test_a_refusal_may_undo_the_order_with_all_its_items() -> None:
    """I6, I13: whatever runs beside it is fenced, and undone."""
    engine, order = begun(app(replace(SHIP, on_permanent=UNDO)), 4)
    engine.service(ship).takes(5).declines("no address", times=1)
    engine.run()
    assert order.state == "Undone"
    assert order.effects == ["charge", "parcels[1]", "parcels[1]/undo", "charge/undo"]
    engine.verdict()


def test_a_pause_begins_no_item_and_a_resume_goes_on() -> None:
    engine, order = begun(app(at_once=1), 2)
    engine.service(ship).takes(5)
    engine.run(lambda: bool(engine.service(ship).calls))
    order.pause()
    engine.run()
    assert order.effects == ["charge", "parcels[0]"]
    assert order.step("parcels[1]").process_state == "Pending"
    order.resume()
    engine.run()
    assert order.state == "Processed"
    engine.verdict()


def test_the_orders_complete_by_stops_what_has_not_begun() -> None:
    """S24, I1: an alert, since an item waits that nobody may claim any more."""
    shop = app(at_once=1)
    short = replace(shop.workflows[0], complete_within=minutes(2), steps=shop.workflows[0].steps[:2])
    engine, order = begun(replace(shop, workflows=[short]), 4)
    engine.service(ship).takes(50)
    engine.run()
    assert (order.state, [alert.alert_id for alert in engine.alerts]) == ("Error", ["1/parcels[3]/0"])
    order.resubmit("parcels[3]")
    engine.run()
    assert order.state == "Processed"
    engine.verdict()


def test_the_steps_of_an_item_have_all_that_a_step_has() -> None:
    """W5, W6: a fallback with a key of its own after the undo, and a service that answers later."""
    engine, order = begun(app(replace(SHIP, on_timeout=[Fallback(close)])), 1)
    engine.service(ship).hangs(times=None)
    engine.run()
    assert order.effects == ["charge", "parcels[0]", "parcels[0]/undo", "parcels[0]/by-payments", "close"]
    engine.verdict()
    slow = Step(ship, undo=recall, complete_within=minutes(1), answer_within=days(1))
    engine, order = begun(app(slow), 2)
    engine.service(ship).returns(Later())
    engine.run(lambda: len(engine.services.callbacks) == 2)
    engine.clock.move(60)
    order.answer("parcels[1]", {"weight": 7})
    order.answer("parcels[0]", {"weight": 5})
    engine.run()
    assert order.result(close) == {"items": [{"weight": 5}, {"weight": 7}]}
    engine.verdict()


def test_large_results_are_in_the_list_of_who_comes_after() -> None:
    engine, order = begun(app(PACK, SHIP), 2)
    large = {"label": "x" * 3_000}
    engine.service(ship).returns(large)
    engine.run()
    assert order.step("parcels[0].ship").size > 3_000
    assert order.result(close) == order.result("parcels") == {"items": [large, large]}
    engine.verdict()


def test_the_list_may_be_a_result_or_deep_in_the_order() -> None:
    engine, order = begun(app(items=ref.result(charge, "split")), 0)
    engine.run()
    assert order.result(close) == {"items": parcels(2)}
    shop = app(items=ref.order("basket.lines"), when=ref.order("basket.lines").exists())
    engine, order = begun(shop, 0, basket={"lines": parcels(1), "of": "ann"})
    engine.run()
    assert engine.service(ship).calls[0].order["basket"] == {"of": "ann"}
    assert order.state == "Processed"


def test_a_death_at_any_call_does_no_item_twice_and_loses_none() -> None:
    """I1, I4."""
    crash_points(app(PACK, SHIP), {"orderId": "1", "parcels": parcels(3)})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"items": "parcels"}, "items is a ref to a list"),
    ({"items": ref.order("parcels", default="")}, "has no default"),
    ({"items": ref.order("note", default="")}, "has no default"),
    ({"items": ref.order("parcel")}, "order has no field 'parcel'"),
    ({"items": ref.order("orderId")}, "order.orderId is a text; an each takes a list"),
    ({"items": ref.item()}, "reads an item, and only a step of an Each has one"),
    ({"at_once": 0}, "at_once 0 is outside 1-1000"),
    ({"steps": []}, "has no step for its items"),
    ({"steps": [Timer("wait", days(1))]}, "'wait' is a Timer; an item has only Steps"),
    ({"steps": Each("inner", ref.order("parcels"), SHIP)}, "'inner' is a Each; an item has only Steps"),
    ({"steps": replace(SHIP, after=[])}, "leave out after= of 'ship'"),
    ({"steps": replace(SHIP, point_of_no_return=True)}, "'ship' is a point of no return"),
    ({"steps": replace(SHIP, name="close")}, "step 'close': 2 steps have this name"),
    ({"steps": replace(SHIP, complete_within=None)}, "its step 'ship': has no complete_within"),
    ({"steps": replace(SHIP, when=ref.item("size") > 1)}, "item has no field 'size'"),
    ({"steps": [SHIP, replace(PACK, when=ref.result("close", "x") > 1)]}, "reads the result of 'close'"),
    ({"steps": replace(SHIP, name="s" * 34, when=ref.item("weight") > 1)}, ""),
]


@pytest.mark.parametrize(("wrong", "says"), WRONG)
def test_an_each_that_cannot_work_is_refused_at_import(wrong: dict[str, Any], says: str) -> None:
    steps = [Step(charge, complete_within=minutes(1)), Step(close, complete_within=minutes(1), name="close")]
    each = {"name": "parcels", "items": ref.order("parcels"), "steps": SHIP, **wrong}
    if not says:
        Workflow("sales", version=1, order=Sale, steps=[steps[0], Each(**each), steps[1]])
        return
    with pytest.raises(WorkflowError, match=re.escape(says)):
        Workflow("sales", version=1, order=Sale, steps=[steps[0], Each(**each), steps[1]])


def test_a_plan_holds_the_steps_of_items_and_names_what_an_order_in_flight_needs() -> None:
    """I10, D1: their agents are asked, and no deployment takes away what undoes them."""
    plan = app(PACK, SHIP).workflows[0].plan()
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.agents == ("payments", "shipping")
    engine, order = begun(app(PACK, SHIP), 2)
    assert {name for _, name in plan.operations()} >= {"pack", "unpack", "ship", "recall"}
    engine.run()
    assert {name for _, name in needed(order.task, plan, cancellable=True)} == {"refund", "reopen", "unpack", "recall"}
    assert plan.by_name["parcels[1].ship"].after == ("parcels[1].pack",)
    assert ("parcels[1].pack" in plan.by_name, "parcels[1].post" in plan.by_name) == (True, False)


def test_its_worst_case_is_that_of_ten_items_in_their_turns() -> None:
    one, five = (worst_case(app(at_once=count).workflows[0].plan(), Timing()) for count in (1, 5))
    alone = worst_case(Workflow("one", version=1, steps=[SHIP]).plan(), Timing())
    assert 8 * alone == one - five


def test_code_that_knows_no_items_puts_their_requests_back() -> None:
    """I10: it would call without the item."""
    request = ItemRequest("1", "parcels[0]", "shipping", "ship", 1, "t", 1, "1/parcels[0]", 5, 5, item=[1, None])
    text = encode(request)
    assert decode_request(text) == request
    assert ('"type":"step.item"' in text, '"check"' in text) == (True, False)
