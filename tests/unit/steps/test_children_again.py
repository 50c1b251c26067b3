"""What comes late, twice or unasked between an order and its child: W5, I1, I11, I13."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stepward import UNDO, App, Child, Step, Timer, Workflow, days, hours, minutes, ref
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import ChildEnded, Notice
from stepward.domain.task.decide import decide
from stepward.domain.timing import Timing
from stepward.testing import Engine
from stepward.testing.harness import Order
from stepward.testing.settings import REPLY_TO
from tests.unit.steps.invoices import Invoice, Sale, app, begun, charge, invoicing, print_it

DAY = 86_400
SLOW = Workflow("invoicing", version=1, order=Invoice, steps=[Timer("drying", days(2)), *invoicing().steps])


def kinds(engine: Engine, kind: HistoryKind) -> list[str]:
    return [entry.note for _, entry in engine.parts.telemetry.history if entry.kind is kind]


def heard(engine: Engine, order: Order, event: ChildEnded | DeadlineCheck) -> tuple[list[str], int]:
    """What the order's history says of the message, and how many it sends."""
    plan = engine.parts.store.plans[order.task.plan_id]
    made = decide(order.task, plan, event, now=engine.clock.now, by="", timing=Timing())
    assert {name: record.process_state for name, record in made.task.steps.items()} == {
        name: record.process_state for name, record in order.task.steps.items()
    }
    return [entry.note for entry in made.history], len(made.messages)


@pytest.mark.parametrize("undone", [False, True])
def test_an_end_in_vain_ends_nothing_and_is_in_the_history(undone: bool) -> None:
    """I11: of a step that has not begun, as when the child of an earlier order of this id tells again, or has ended."""
    ended, word = ChildEnded("1", "invoice", 1, undone=undone), "undone" if undone else "done"
    engine, parent, _ = begun(app())
    engine.run(lambda: engine.task("1") is not None and parent.step("charge").runs)
    assert heard(engine, parent, ended)[0] == [f"its child ended {word}; the step is Pending"]
    engine.run()
    assert heard(engine, parent, ended)[0] == (["its child ended undone; the step is Processed"] if undone else [])


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_an_end_that_is_told_again_notifies_again(status: str) -> None:
    """I8: the notice of what this very message ended may be lost."""
    engine, parent, child = begun(app(), replyTo=REPLY_TO)
    if status == "failed":
        engine.run(lambda: engine.task("1#invoice") is not None)
        child.undo("wrong address")
    engine.run()
    ended = ChildEnded("1", "invoice", undone=status == "failed")
    told = decide(parent.task, app().workflows[0].plan(), ended, now=parent.task.created_at, by="", timing=Timing())
    assert [it.status for it in told.messages if isinstance(it, Notice)] == [status]


def test_what_a_child_has_done_is_not_the_end_of_its_undo() -> None:
    """I13: it says so again while its undo is asked for."""
    engine, parent, _ = begun(app())
    engine.run()
    parent.undo()
    engine.run(lambda: "invoice/undo" in parent.task.steps and parent.step("invoice/undo").runs)
    heard(engine, parent, ChildEnded("1", "invoice", 1))
    assert parent.step("invoice/undo").process_state == "Processing"


def test_a_child_that_is_the_first_step_begins_although_the_start_is_lost() -> None:
    """I1."""
    part = Child("invoice", invoicing(), order={"lines": ref.order("items")}, complete_within=days(1))
    sales = Workflow("sales", version=1, order=Sale, steps=[part])
    with Engine(App("shop", workflows=[sales, invoicing()], default=sales)) as engine:
        engine.lose("scheduler")
        order = engine.submit(sales, {"orderId": "1", "items": ["a"]})
        engine.clock.move(300)
        assert order.state == "Processed"


def test_a_child_is_asked_again_after_a_quarter_of_its_time_and_not_at_every_sweep() -> None:
    """I1."""
    engine, _, _ = begun(app(SLOW))
    for quarter in range(1, 4):
        engine.clock.move(DAY / 4 + 60)
        assert kinds(engine, HistoryKind.REMINDED) == ["its child 1#invoice has not ended"] * quarter


def test_an_order_in_error_for_its_slow_child_is_undone_if_that_ends_undone() -> None:
    """I1: its policy for that applies as if nothing had been."""
    engine, parent, child = begun(app(SLOW, on_undone=UNDO))
    engine.clock.move(DAY + 120)
    assert parent.state == "Error"
    child.undo()
    engine.clock.move(60)
    assert (parent.state, child.state) == ("Undone", "Undone")


def test_what_an_operator_cannot_undo_of_a_child_is_no_news_to_its_parent() -> None:
    """I13: only the undo of the parent asks."""
    printed = Step(print_it, complete_within=minutes(1), point_of_no_return=True)
    part = Workflow("invoicing", version=1, order=Invoice, steps=[printed, Timer("drying", hours(2))])
    engine, parent, child = begun(app(part))
    engine.clock.move(60)
    child.undo()
    engine.clock.move(60)
    assert (parent.step("invoice").process_state, child.state) == ("Processing", "Processing")


def test_a_child_that_has_told_waits_before_it_tells_again() -> None:
    """I1: it goes by its own time, not by every sweep."""
    engine, _, child = begun(app())
    engine.run()
    assert child.task.parent is not None
    parent = replace(child.task.parent, tell_by=engine.clock.now + 60_000)
    engine.parts.store.tasks[child.order_id] = replace(child.task, parent=parent)
    assert heard(engine, child, DeadlineCheck()) == ([], 0)


def test_a_child_whose_order_cannot_be_made_is_an_error_that_names_what_is_missing() -> None:
    """W5: nothing is guessed; a service has broken its promise."""
    part = Child("invoice", invoicing(), order={"lines": ref.result(print_it, "pages")}, complete_within=days(1))
    sales = Workflow("sales", version=1, order=Sale, steps=[Step(print_it, complete_within=minutes(1)), part])
    with Engine(App("shop", workflows=[sales, invoicing()], default=sales)) as engine:
        engine.service(print_it).returns({})
        order = engine.submit(sales, {"orderId": "1", "items": ["a"]})
        engine.clock.move(60)
        assert order.step("invoice").error == "print_it.pages is missing, which the order of the child 'invoice' needs"
        assert len(engine.alerts) == 1


@pytest.mark.parametrize(
    ("asks", "says"),
    [
        ({"orderId": "2"}, "there is no task for '2'"),
        ({"step": "charge"}, "'charge' is not a child of '1'"),
        ({"step": "nothing"}, "'nothing' is not a child of '1'"),
        ({}, ""),
    ],
    ids=["no order", "no child", "no step", "before its turn"],
)
def test_a_child_that_is_asked_for_in_vain_does_not_begin(asks: dict[str, str], says: str) -> None:
    """I1, I3: the message may be one of an earlier order of this id, and must not come back for ever."""
    engine, _, _ = begun(app())
    engine.service(charge).takes(20)
    engine.clock.move(5)
    for kind in ("submit", "undo") if says else ("submit",):
        message = {"type": f"child.{kind}", "orderId": "1", "step": "invoice", "attempt": 1, **asks}
        engine.post("scheduler", json.dumps(message))
    engine.clock.move(5)
    assert [reject.reason for reject in engine.rejects] == ([says] * 2 if says else [])
    assert engine.task("1#invoice") is None
