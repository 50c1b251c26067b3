"""Orders that are a step of another order: W5, I1, I4, I6, I13."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepward import UNDO, App, Child, Step, Timer, Workflow, WorkflowError, days, hours, minutes, ref
from stepward.domain.key import child_key
from stepward.domain.messages import ChildEnded, ChildHeard, StepRequest
from stepward.domain.submission import Order
from stepward.domain.task.decide import decide
from stepward.domain.task.lacking import needed
from stepward.domain.task.record import Parent, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Exhausted, Plan
from stepward.testing.faults.pulse import Kill, Kind
from tests.unit.steps.invoices import Invoice, app, begun, close, invoicing, number, print_it, reopen, shred

DAY = 86_400


def test_a_child_is_an_order_of_its_own_and_its_end_ends_the_step() -> None:
    """W5: its order is made of the parent's, its result is that of its last step."""
    engine, parent, child = begun(app())
    engine.clock.move(300)
    assert parent.state == child.state == "Processed"
    assert parent.result(close) == {"pages": 2}
    assert child.effects == ["number", "print_it"]
    assert child.task.due is None, "its parent has heard"
    engine.verdict()


def test_the_undo_of_the_parent_undoes_a_child_that_has_ended() -> None:
    """I6, I13: in reverse, whatever the child has done."""
    engine, parent, child = begun(app())
    engine.run()
    parent.undo()
    engine.run()
    assert parent.state == child.state == "Undone"
    assert engine.effects[-4:] == ["close/undo", "print_it/undo", "number/undo", "charge/undo"]
    assert child.task.due is None
    engine.verdict()


def test_the_undo_of_the_parent_undoes_a_child_that_runs() -> None:
    """I13. Trap: a child outlives its parent."""
    waiting = Workflow("invoicing", version=1, order=Invoice, steps=[*invoicing().steps, Timer("drying", hours(2))])
    engine, parent, child = begun(app(waiting))
    engine.clock.move(60)
    assert (parent.state, child.state) == ("Processing", "Processing")
    parent.undo()
    engine.clock.move(60)
    assert parent.state == child.state == "Undone"
    engine.verdict()


def test_a_child_that_never_came_is_put_there_undone() -> None:
    """I13: a submission that comes late finds it so, and calls nobody."""
    engine, parent, child = begun(app())
    engine.run(lambda: bool(engine.effects))
    engine.lose("scheduler")
    engine.clock.move(30)
    assert engine.task("1#invoice") is None
    parent.undo()
    engine.clock.move(30)
    assert parent.state == child.state == "Undone"
    engine.post("scheduler", '{"type": "child.submit", "orderId": "1", "step": "invoice", "attempt": 1}')
    engine.run()
    assert engine.effects == ["charge", "charge/undo"]
    engine.verdict()


def test_a_child_that_comes_while_it_is_buried_is_undone_as_it_is() -> None:
    """I13: the Scheduler that submits it has read its parent before the undo began."""
    engine, parent, child = begun(app())
    engine.run(lambda: bool(engine.effects))
    engine.lose("scheduler")
    engine.clock.move(30)

    def comes() -> None:
        made = invoicing().plan()
        task = new_task(child.order_id, made, engine.clock.now, Timing(), parent=Parent("1", "invoice"))
        engine.parts.store.submit(Order.of(child.order_id, "{}"), task, made)

    engine.pulse.kills.append(Kill("scheduler", 1, Kind.SUPERSEDED, "store.submit", comes))
    parent.undo()
    engine.clock.move(DAY)
    assert parent.state == child.state == "Undone"
    assert engine.effects == ["charge", "charge/undo"]


def test_what_is_lost_is_asked_again_and_a_child_that_has_ended_tells_again() -> None:
    """I1: a quarter of its time at most goes by. Trap: a parent that never hears of its child."""
    engine, parent, child = begun(app())
    engine.run(lambda: engine.task("1#invoice") is not None and child.state == "Processed")
    engine.lose("scheduler")
    engine.clock.move(120)
    assert (parent.state, child.task.due) == ("Processed", None), "it is told until the parent has heard"
    engine, parent, child = begun(app())
    engine.run(lambda: bool(engine.effects))
    engine.lose("scheduler")
    engine.clock.move(DAY / 4 - 60)
    assert parent.state == "Processing"
    engine.clock.move(180)
    assert parent.state == child.state == "Processed"


def test_an_end_that_is_told_again_asks_again_for_what_follows() -> None:
    """I1: whoever wrote the end may have died before the request was sent."""
    engine, parent, _ = begun(app())
    engine.run(lambda: bool((task := engine.task("1")) and task.steps["close"].token))
    ended = ChildEnded("1", "invoice", 1, result={"pages": 2})
    plan = app().workflows[0].plan()
    told = decide(parent.task, plan, ended, now=parent.task.created_at, by="", timing=Timing(), order={})
    asked = [message for message in told.messages if isinstance(message, StepRequest)]
    assert [(each.step, each.token) for each in asked] == [("close", parent.step("close").token)]


def test_an_end_that_began_the_undo_asks_again_for_all_of_it_when_it_comes_again() -> None:
    """I1, S16: it ends the child's undo, and what it claimed beside that may never have been asked."""
    beside = Step(close, undo=reopen, complete_within=minutes(1), after=["charge"])
    engine, parent, _ = begun(shop := app(None, beside, on_undone=UNDO))
    engine.service(print_it).hangs()
    engine.clock.move(30)
    plan, ended = shop.workflows[0].plan(), ChildEnded("1", "invoice", 0, undone=True)
    first = decide(parent.task, plan, ended, now=engine.clock.now, by="", timing=Timing(), order={})
    again = decide(first.task, plan, ended, now=engine.clock.now, by="", timing=Timing(), order={})
    assert "close/undo" in [each.step for each in again.messages if isinstance(each, StepRequest)]


def test_a_child_that_takes_too_long_is_an_alert_and_its_end_still_counts() -> None:
    """I1, I11: it goes on, whatever its parent's policy is."""
    slow = Workflow("invoicing", version=1, order=Invoice, steps=[Timer("drying", days(2)), *invoicing().steps])
    engine, parent, child = begun(app(slow))
    engine.clock.move(DAY + 120)
    assert parent.step("invoice").error == "its child 1#invoice has not ended"
    engine.clock.move(DAY)
    assert parent.state == child.state == "Processed"
    engine.verdict()


def test_a_pause_does_not_reach_a_child_whose_end_is_kept() -> None:
    engine, parent, child = begun(app())
    engine.run(lambda: engine.task("1#invoice") is not None)
    parent.pause()
    engine.clock.move(60)
    assert (child.state, parent.step("invoice").process_state) == ("Processed", "Processed")
    assert parent.state == "Processing"
    parent.resume()
    engine.run()
    assert parent.state == "Processed"


def test_a_child_that_was_undone_fails_the_step_for_good_and_stays_undone() -> None:
    """I13: an operator undoes it; the way out is the parent's undo."""
    engine, parent, child = begun(app())
    engine.service(print_it).hangs()
    engine.clock.move(30)
    child.undo()
    engine.clock.move(200)
    assert (child.state, parent.state) == ("Undone", "Error")
    assert parent.step("invoice").error == "its child 1#invoice: it was undone"
    engine.post("scheduler", '{"type": "child.ended", "orderId": "1", "step": "invoice", "attempt": 0, "undone": true}')
    engine.clock.move(30)
    assert len(engine.alerts) == 1, "twice is once"
    parent.resubmit("invoice")
    engine.clock.move(60)
    assert parent.state == "Error"
    parent.undo()
    engine.clock.move(60)
    assert parent.state == "Undone"
    engine.verdict()


def test_a_child_that_is_done_is_undone_with_its_parent_only() -> None:
    """I13: the parent goes on with what it was told."""
    engine, parent, child = begun(app())
    engine.run()
    child.undo()
    engine.run()
    assert child.state == parent.state == "Processed"


def test_a_child_past_its_point_of_no_return_fails_the_undo_by_name() -> None:
    """I13: nobody says that the order is undone."""
    engine, parent, child = begun(app(invoicing(point_of_no_return=True)))
    engine.run()
    parent.undo()
    engine.clock.move(60)
    assert (parent.state, child.state) == ("UndoFailed", "Processed")
    why = "its child 1#invoice: the order is past its point of no return, print_it"
    assert parent.step("invoice/undo").error == why
    assert [alert.reason for alert in engine.alerts] == [why]


def test_the_undo_of_a_child_that_fails_is_its_own_alert_and_its_end_ends_the_parents_undo() -> None:
    """I6, I13: an operator mends the child, and nothing else."""
    engine, parent, child = begun(app())
    engine.run()
    engine.service(shred).declines("jammed")
    parent.undo()
    engine.clock.move(60)
    assert (parent.state, child.state) == ("Undoing", "UndoFailed")
    assert [alert.order_id for alert in engine.alerts] == ["1#invoice"]
    engine.service(shred).works()
    child.resubmit("print_it/undo")
    engine.clock.move(60)
    assert parent.state == child.state == "Undone"
    engine.verdict()


def test_an_old_word_of_the_parent_does_not_end_the_telling_of_a_later_end() -> None:
    """I1: it knew that the child was done, and not yet that it was undone."""
    engine, parent, child = begun(app())
    engine.run()
    parent.undo()
    engine.run()
    assert child.task.parent is not None
    untold, plan = replace(child.task, parent=replace(child.task.parent, tell_by=5)), invoicing().plan()
    for undone in (False, True):
        heard = decide(untold, plan, ChildHeard("1#invoice", undone=undone), now=9, by="", timing=Timing())
        assert (heard.task.parent, heard.messages) == (replace(child.task.parent, tell_by=None if undone else 5), ())


def test_an_order_without_its_condition_has_no_child() -> None:
    """I12: and nothing to undo there."""
    engine, parent, _ = begun(app(when=ref.order("note").exists()))
    engine.run()
    parent.undo()
    engine.run()
    assert parent.state == "Undone"
    assert engine.task("1#invoice") is None


def test_the_childs_order_names_the_parents_order_and_what_is_too_large_is_an_error() -> None:
    seen: list[Mapping[str, Any]] = []
    engine, parent, _ = begun(app(), customerId="acme", items=["x" * 200_000])
    engine.service(number).returns(lambda call: seen.append(call.order) or {})  # type: ignore[func-returns-value]
    engine.run()
    assert {**seen[0], "lines": 1} == {"orderId": "1", "customerId": "acme", "lines": 1}
    doubled = app(order={"lines": ref.order("items"), "again": ref.order("items")})
    engine, parent, _ = begun(doubled, items=["x" * 200_000])
    engine.clock.move(30)
    assert (parent.step("invoice").error or "").startswith("its child 1#invoice: its order is 400,0")
    assert not engine.rejects, "a child that never came hears nothing"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"complete_within": None}, "say how long the child has"),
        ({"on_timeout": Exhausted.WAIT}, "on_timeout is ALERT or UNDO"),
        ({"order": {"lines": ref.order("wrong")}}, "order has no field 'wrong'"),
        ({"order": {"lines": ref.order("note")}}, "order.note may be missing"),
        ({"order": {"lines": ref.result("close", "pages")}}, "reads the result of 'close'"),
    ],
)
def test_a_child_that_cannot_work_is_refused_at_import(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(WorkflowError, match=re.escape(says)):
        app(**wrong)


def test_an_application_lists_the_workflows_of_its_children_and_they_are_three_deep_at_most() -> None:
    sales = app().workflows[0]
    with pytest.raises(WorkflowError, match="list 'invoicing' in workflows="):
        App("shop", workflows=[sales])
    within = invoicing()
    for name in ("b", "c"):
        within = Workflow(name, version=1, steps=[Child("part", within, complete_within=days(1))])
    with pytest.raises(WorkflowError, match="its children are 4 deep"):
        Workflow("d", version=1, steps=[Child("part", within, complete_within=days(1))])


def test_a_plan_holds_its_childs_and_names_what_an_order_in_flight_needs() -> None:
    """I10, D1: no deployment changes what a child will do, or takes it away."""
    plan = app(when=ref.order("note").exists()).workflows[0].plan()
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.by_name["invoice"].child == replace(invoicing().plan(), is_child=True), "older code keeps off its tasks"
    assert {name for _, name in plan.operations()} >= {"number", "void", "charge"}
    engine, parent, _ = begun(app())
    engine.run()
    assert {name for _, name in needed(parent.task, plan, cancellable=True)} == {"refund", "reopen", "void", "shred"}
    assert needed(replace(parent.task, steps={}), plan) == frozenset()


def test_a_childs_key_fits_whatever_its_parents_is() -> None:
    """I4: it stays a key, and its idempotency keys below what services cut."""
    assert child_key("1", "invoice") == "1#invoice"
    long = child_key("invoicing~" + "a" * 100 + "~" + "b" * 90, "invoice")
    assert len(long) == 40
    assert long != child_key("invoicing~" + "a" * 100 + "~" + "c" * 90, "invoice")
