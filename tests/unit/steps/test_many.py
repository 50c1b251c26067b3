"""An each of more than ten items, which are done by children of ten: W5, I1, I4, I6, I13."""

from __future__ import annotations

import pytest

from stepward import UNDO, App, Workflow
from stepward.adapters.dynamodb.task_records import StepsAttribute
from stepward.domain.messages import ChildEnded, Notice, Outcome, Reply
from stepward.domain.steps import each, many
from stepward.domain.task import results
from stepward.domain.task.decide import decide
from stepward.domain.task.lacking import needed
from stepward.domain.task.record import Task
from stepward.domain.timing import Timing
from stepward.domain.workflow import effects
from stepward.operator.wording.prospects import prospects
from stepward.operator.wording.timeline import timeline
from stepward.testing import Engine, crash_points
from stepward.testing.faults import waits
from stepward.testing.settings import REPLY_TO
from stepward.wire.messages import encode
from tests.depth import some
from tests.unit.steps.parcels import PACK, SHIP, app, begun, close, parcels, recall, ship

HOUR = 3_600


def test_many_items_are_done_by_children_of_ten_and_undone_with_their_parent() -> None:
    """W5, I6, I13: the last ones first, and only what was done."""
    engine, order = begun(app(PACK, SHIP, at_once=20), 25)
    engine.run()
    assert (order.state, order.result(close)) == ("Processed", {"count": 25})
    assert [len(engine.order(f"1#parcels.{at}").effects) for at in range(3)] == [20, 20, 10]
    assert sorted(call.item["weight"] for call in engine.service(ship).calls) == list(range(25))
    order.undo()
    engine.run()
    assert [engine.order(key).state for key in ("1", "1#parcels.0", "1#parcels.2")] == ["Undone"] * 3
    assert len(engine.effects) == 2 * (2 * 25 + 2)
    assert engine.effects[-1] == "charge/undo"
    engine.verdict()


def test_a_child_knows_the_results_before_it_and_nobody_carries_the_list() -> None:
    engine, _ = begun(app(), 11)
    engine.run()
    call = engine.service(ship).calls[10]
    assert set(call.results) == {"charge"}
    assert not {"parcels", "~items", "~results"} & set(call.order)
    assert call.order["orderId"] == "1"


def test_so_many_children_are_under_way_at_once_forward_and_back() -> None:
    """W5: two of ten for twenty at once."""
    engine, order = begun(app(at_once=20), 41)
    for operation in (ship, recall):
        engine.service(operation).takes(10)
    engine.clock.move(5)
    assert [engine.task(f"1#parcels.{at}") is not None for at in range(5)] == [True, True, False, False, False]
    engine.run()
    order.undo()
    engine.clock.move(5)
    assert [bool(task.undoing) for at in range(5) if (task := engine.task(f"1#parcels.{at}"))] == [False] * 3 + [
        True
    ] * 2
    engine.run()
    assert order.state == "Undone"
    engine.verdict()


@pytest.mark.parametrize("lost", [1, 2])
def test_what_is_lost_is_asked_for_again_within_an_hour(lost: int) -> None:
    """I1: the submission of the first child, or that of the second beside the word that the first was heard."""
    engine, order = begun(app(at_once=1), 11)
    engine.run(lambda: bool(engine.effects) and (lost == 1 or bool(order.step("parcels").ended)))
    engine.lose("scheduler", lost)
    engine.clock.move(60)
    assert order.state == "Processing"
    engine.clock.move(HOUR + 120)
    assert order.state == "Processed"
    engine.verdict()


def test_the_end_of_a_child_that_comes_twice_asks_again() -> None:
    """I1: whoever noted it may have died before the next child was asked for."""
    engine, order = begun(app(at_once=1), 11)
    engine.run(lambda: bool(engine.effects and order.step("parcels").ended))
    engine.lose("scheduler", 2)
    engine.clock.move(30)
    assert engine.task("1#parcels.1") is None
    engine.post("scheduler", '{"type": "child.ended", "orderId": "1", "step": "parcels.0", "attempt": 0}')
    engine.clock.move(30)
    assert order.state == "Processed"
    assert len(engine.effects) == 13
    engine.verdict()


def test_the_end_of_each_child_is_kept_beside_the_others() -> None:
    """I1, I3: the step ends with the last one, and not before."""
    engine, order = begun(app(at_once=1), 21)
    engine.run(lambda: bool(engine.effects and order.step("parcels").ended))
    task, plan = order.task, app(at_once=1).workflows[0].plan()
    for at, ended, state in ((2, "5", "Processing"), (2, "5", "Processing"), (1, "7", "Processed")):
        event = ChildEnded("1", f"parcels.{at}", 1)
        task = decide(task, plan, event, now=task.created_at, by="", timing=Timing(), order={}).task
        assert (task.steps["parcels"].ended, str(task.steps["parcels"].process_state)) == (ended, state)


def test_a_pause_begins_no_child_and_a_resume_goes_on() -> None:
    engine, order = begun(app(at_once=1), 11)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    order.pause()
    engine.run()
    assert (engine.task("1#parcels.1"), order.task.due) == (None, None)
    assert order.step("parcels").ended == "1"
    charged = order.step("charge")
    engine.post("responses", encode(Reply("1", "charge", 1, charged.token or "", Outcome.OK, charged.result or {})))
    engine.run()
    assert engine.task("1#parcels.1") is None, "what began it comes again"
    order.resume()
    engine.clock.move(120)
    assert order.state == "Processed"
    engine.verdict()


def test_an_item_that_fails_is_its_childs_alert_and_its_end_ends_the_step() -> None:
    """I1, I3."""
    engine, order = begun(app(at_once=1), 12)
    engine.service(ship).declines("no address", times=1)
    engine.clock.move(120)
    assert [alert.alert_id for alert in engine.alerts] == ["1#parcels.0/parcels[0]/1"]
    assert (order.state, engine.task("1#parcels.1")) == ("Processing", None)
    engine.order("1#parcels.0").resubmit("parcels[0]")
    engine.clock.move(120)
    assert order.state == "Processed"
    engine.verdict()


def test_an_undo_midway_reaches_each_child_also_one_that_never_came() -> None:
    """I13: its submission comes late, and calls nobody."""
    engine, order = begun(app(at_once=20), 30)
    engine.service(ship).takes(5)
    engine.run(lambda: engine.task("1#parcels.0") is not None)
    engine.lose("scheduler")
    engine.clock.move(2)
    assert engine.task("1#parcels.1") is None
    order.undo()
    engine.clock.move(120)
    assert [engine.order(key).state for key in ("1", "1#parcels.0", "1#parcels.1")] == ["Undone"] * 3
    engine.post("scheduler", '{"type": "child.submit", "orderId": "1", "step": "parcels.1", "attempt": 1}')
    engine.run()
    assert engine.task("1#parcels.2") is None
    assert not [effect for order_id, effect in engine.services.log if order_id == "1#parcels.1"]
    engine.verdict()


def test_the_end_of_a_child_that_comes_late_ends_no_undo() -> None:
    """I13: it was done, and is not yet undone."""
    engine, order = begun(app(), 11)
    engine.run()
    engine.service(recall).takes(10)
    order.undo()
    engine.run(lambda: "parcels/undo" in order.task.steps and order.step("parcels/undo").attempt > 0)
    engine.post("scheduler", '{"type": "child.ended", "orderId": "1", "step": "parcels.0", "attempt": 0}')
    engine.clock.move(1)
    assert (order.state, order.step("parcels/undo").ended) == ("Undoing", "")
    engine.run()
    assert order.state == "Undone"
    engine.verdict()


def test_nobody_can_pass_off_results_as_those_of_a_parent() -> None:
    engine, _ = begun(app(), 1, **{"~results": {"close": {"paid": True}}})
    engine.run()
    assert set(engine.service(ship).calls[0].results) == {"charge"}


def test_a_child_that_an_operator_undoes_fails_the_step_by_name() -> None:
    """I13: the way out is the undo of the whole order."""
    engine, order = begun(app(at_once=1), 11)
    engine.service(ship).takes(5)
    engine.run(lambda: bool(engine.services.log[1:]))
    engine.order("1#parcels.0").undo()
    engine.run()
    assert (order.state, order.step("parcels").error) == ("Error", "its child 1#parcels.0: it was undone")
    order.undo()
    engine.run()
    assert order.state == "Undone"
    engine.verdict()


def test_a_deployment_in_the_undo_keeps_what_undoes_the_items() -> None:
    """I10: the children name it, and so does their parent."""
    engine, order = begun(app(PACK, SHIP), 11)
    engine.run()
    engine.service(recall).takes(5)
    order.undo()
    engine.run(lambda: "parcels/undo" in order.task.steps and order.step("parcels/undo").attempt > 0)
    assert {name for _, name in needed(order.task, app(PACK, SHIP).workflows[0].plan())} >= {"unpack", "recall"}


def test_people_see_how_far_many_items_are_and_what_undid_them() -> None:
    engine, order = begun(app(at_once=1), 21)
    engine.run(lambda: bool(engine.effects and order.step("parcels").ended))
    plan = app(at_once=1).workflows[0].plan()
    (said,) = prospects(order.task, plan, engine.loop.now)
    assert said == "parcels waits for its 21 items, 1 at once; 1 of 3 orders of ten have ended."
    order.undo()
    engine.run()
    texts = [happening.text for happening in timeline(order.task, plan)]
    assert "parcels/undo: its items began, 1 at once" in texts


def test_more_than_ten_thousand_are_refused_by_name() -> None:
    engine, order = begun(app(), 10_001)
    engine.run()
    assert order.step("parcels").error == "order.parcels has 10,001 items; 'parcels' does 10,000 at most"


def test_no_write_of_the_parent_grows_with_the_rest() -> None:
    """W5: a thousand items differ from a hundred by their bits. Trap: a fan-out costs the square of its length."""
    hundred, thousand = (written(count) for count in (100, 1_000))
    assert max(map(size, thousand["1"])) - max(map(size, hundred["1"])) < 40
    units = sum(-(-size(task) // 1_000) for tasks in thousand.values() for task in tasks)
    submissions = 100 * 5  # of each child in a transaction: task and order, of one and of two units each
    assert units + submissions < 15 * 1_000


def written(count: int) -> dict[str, list[Task]]:
    """Every revision that was written of each task of an order with so many items."""
    engine, order = begun(app(at_once=10), count)
    engine.run()
    assert order.state == "Processed"
    found: dict[str, list[Task]] = {}
    for (key, _), task in engine.parts.judge.reached.items():
        found.setdefault(key, []).append(task)
    return found


def size(task: Task) -> int:
    """About the bytes of the item."""
    return 250 + len(str(StepsAttribute().serialize(task.steps)))


@pytest.mark.parametrize("refused", some([False, True], 2))
def test_whoever_dies_the_children_end_with_their_parent(monkeypatch: pytest.MonkeyPatch, refused: bool) -> None:
    """I1, I4, I6, I13: at every call of every part; each child has one item, so that there are not too many calls."""
    for module in (each, effects, many, results, waits):
        monkeypatch.setattr(module, "MOST_INLINE", 1)

    def before(engine: Engine) -> None:
        if refused:
            engine.service(close).declines("no")

    def after(engine: Engine) -> None:
        states = {engine.order(key).state for key in ("1", "1#parcels.0", "1#parcels.1")}
        assert states == {"Undone" if refused else "Processed"}

    crash_points(app(on_failure=UNDO, at_once=1), {"orderId": "1", "parcels": parcels(2)}, before=before, after=after)


def test_the_scheduler_of_an_each_may_submit_orders() -> None:
    """The deployment gives it that right only where it needs it."""
    alone = Workflow("one", version=1, steps=[SHIP])
    assert (app().has_children, App("plain", workflows=[alone]).has_children) == (True, False)


def test_parcels_that_fit_have_no_children() -> None:
    engine, order = begun(app(), 10)
    engine.run()
    assert order.result("parcels") == {"items": parcels(10)}
    assert list(engine.parts.store.tasks) == ["1"]
    assert isinstance(engine, Engine)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_an_end_of_some_items_that_is_told_again_notifies_again(status: str) -> None:
    """I8: the notice of what this very message ended may be lost."""
    engine, order = begun(app(), 11, replyTo=REPLY_TO)
    if status == "failed":
        engine.run(lambda: engine.task("1#parcels.0") is not None)
        engine.order("1#parcels.0").undo("wrong address")
    engine.run()
    ended, plan = ChildEnded("1", "parcels.0", undone=status == "failed"), engine.parts.store.plans[order.task.plan_id]
    told = decide(order.task, plan, ended, now=order.task.created_at, by="", timing=Timing(), order=None)
    assert [it.status for it in told.messages if isinstance(it, Notice)] == [status]
