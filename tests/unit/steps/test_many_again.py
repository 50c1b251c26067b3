"""An each of more than ten items that something holds up, and how it goes on: I1, I9, I13, S24."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepward import UNDO, App, minutes
from stepward.app.scheduler import children
from stepward.domain.messages import ChildEnded, ChildHeard, StepFailed
from stepward.domain.task.decide import decide
from stepward.domain.timing import Timing
from stepward.testing import Engine
from stepward.testing.harness import Order
from tests.unit.steps.parcels import SHIP, app, begun, charge, recall, ship


def limited(count: int, *, at_once: int) -> tuple[Engine, Order]:
    """An order of so many parcels, which are its last step, has two minutes; each parcel takes half a minute."""
    (sales,) = app(at_once=at_once).workflows
    engine, order = begun(
        App("shop", workflows=[replace(sales, complete_within=minutes(2), steps=sales.steps[:2])]), count
    )
    engine.service(ship).takes(30)
    return engine, order


def test_the_orders_complete_by_stops_items_that_have_not_begun() -> None:
    """S24, I1: an operator hears of it, and a resubmission goes on where it was."""
    engine, order = limited(21, at_once=1)
    engine.run()
    assert (order.state, [alert.alert_id for alert in engine.alerts]) == ("Error", ["1/parcels/1"])
    assert (order.step("parcels").ended, engine.task("1#parcels.1")) == ("1", None)
    engine.verdict()
    order.resubmit("parcels")
    engine.run()
    assert (order.state, len(engine.effects)) == ("Processed", 22)
    engine.verdict()


def test_items_that_have_all_begun_are_asked_again_past_the_orders_complete_by() -> None:
    """S24, I1: a submission that is lost comes again, and nobody is alerted to what ends by itself."""
    engine, order = limited(21, at_once=30)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    engine.lose("scheduler")
    engine.clock.move(240)
    assert sorted(key for key in engine.parts.store.tasks) == ["1", "1#parcels.0", "1#parcels.2"]
    engine.run()
    assert (order.state, engine.alerts) == ("Processed", [])
    engine.verdict()


def test_items_that_a_pause_held_up_past_the_orders_complete_by_are_an_alert() -> None:
    """S24, I1: the last ten count as begun, and nobody has asked for them."""
    engine, order = limited(11, at_once=1)
    engine.service(ship).takes(5)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    order.pause()
    engine.run()
    order.resume()
    engine.run()
    assert (order.state, engine.task("1#parcels.1")) == ("Error", None)
    order.resubmit("parcels")
    engine.run()
    assert order.state == "Processed"
    engine.verdict()


@pytest.mark.parametrize("count", [4, 12])
@pytest.mark.parametrize("hangs", [False, True])
def test_an_item_whose_policy_is_undo_undoes_the_order(count: int, hangs: bool) -> None:
    """S4, I13: also from the eleventh item on, where it undoes the ten first."""
    engine, order = begun(app(replace(SHIP, on_timeout=UNDO) if hangs else replace(SHIP, on_permanent=UNDO)), count)
    if hangs:
        engine.service(ship).hangs(times=None)
    else:
        engine.service(ship).declines("no address", times=1)
    engine.run()
    assert (order.state, engine.alerts) == ("Undone", [])
    engine.verdict()


def test_some_items_that_never_came_hear_nothing() -> None:
    """I1: what is told to nobody would be a reject, for a person to look at."""
    engine, order = begun(app(), 11)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    plan, event = engine.parts.store.plans[order.task.plan_id], ChildEnded("1", "parcels.0", error="its order is wrong")
    told = decide(order.task, plan, event, now=order.task.created_at, by="", timing=Timing())
    assert (told.task.steps["parcels"].error or "").endswith("its order is wrong")
    assert not [message for message in told.messages if isinstance(message, ChildHeard)]


@pytest.mark.parametrize(("kept", "most"), [({"charge"}, 390_000), (set(), 350_000)])
def test_an_order_as_long_as_may_be_can_have_many_items(
    monkeypatch: pytest.MonkeyPatch, kept: set[str], most: int
) -> None:
    """W5: the results that are added do not count; where they would not fit its record, the longest are left out."""
    monkeypatch.setattr(children, "MOST_WITH_RESULTS", most, raising=False)
    engine, order = begun(app(), 11, note="x" * 349_000)
    engine.service(charge).returns({"text": "y" * 1_900})
    engine.run()
    assert (order.state, engine.rejects) == ("Processed", [])
    assert set(engine.service(ship).calls[0].results) == kept
    engine.verdict()


@pytest.mark.parametrize("undone", [False, True])
def test_a_run_ends_while_one_of_many_items_waits_for_a_person(*, undone: bool) -> None:
    engine, order = begun(app(at_once=20), 21)
    if undone:
        engine.run()
        order.undo()
    engine.service(recall if undone else ship).declines("no", times=1)
    engine.run()
    assert (order.state, len(engine.alerts)) == ("Undoing" if undone else "Processing", 1)
    assert engine.clock.seconds < 7_200
    engine.verdict()
    (alert,) = engine.alerts
    assert isinstance(alert, StepFailed)
    engine.order(alert.order_id).resubmit(alert.step)
    engine.run()
    assert order.state == ("Undone" if undone else "Processed")


def test_a_run_goes_on_while_one_item_waits_for_a_person_and_others_were_never_asked_for() -> None:
    """I1: the submission of their order is lost, and comes again within the hour."""
    engine, order = begun(app(at_once=20), 20)
    engine.service(ship).declines("no", times=1)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    engine.lose("scheduler")
    engine.run()
    assert (order.step("parcels").ended, engine.clock.seconds > 3_600) == ("2", True)
