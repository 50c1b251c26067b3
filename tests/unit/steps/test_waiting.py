"""Workflows that wait for the outside world, in the engine in memory: W2 to W4, I11, I12."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

from stepward import (
    ALERT,
    UNDO,
    Agent,
    App,
    Call,
    Default,
    OrderMessage,
    Remind,
    Signal,
    Step,
    Timer,
    Workflow,
    days,
    hours,
    minutes,
    ref,
)
from stepward.testing import Engine
from stepward.testing.faults.loop import START
from stepward.testing.harness import Order
from stepward.wire.order import Timestamp

payments = Agent("payments")
DAY = 86_400


class Sale(OrderMessage, frozen=True, kw_only=True):
    total: int
    ends: Timestamp | None = None
    note: str | None = None


class Approval(msgspec.Struct, frozen=True):
    by: str


class Score(TypedDict):
    score: int


@payments.operation
def charge(call: Call) -> Mapping[str, Any]:
    return {"charged": call.results.get("approval", {}).get("by", "nobody")}


@payments.operation
def refund(_: Call) -> Mapping[str, Any]:
    return {}


@payments.operation
def close(call: Call) -> Mapping[str, Any]:
    return {"ends": call.order.get("note")}


@payments.operation
def screen(_: Call) -> Score:
    return {"score": "unknown"}  # type: ignore[typeddict-item]


def approval(**wanted: Any) -> Signal:
    return Signal("approval", Approval, **{"complete_within": days(2), **wanted})


def app(*steps: Step | Signal | Timer) -> App:
    return App("shop", workflows=[Workflow("sales", version=1, order=Sale, steps=steps)])


def charged(**wanted: Any) -> Step:
    return Step(charge, undo=refund, complete_within=minutes(1), **wanted)


def closed() -> Step:
    return Step(close, complete_within=minutes(1))


Begin = Callable[..., tuple[Engine, Order]]


@pytest.fixture
def begin() -> Begin:
    def begun(*steps: Step | Signal | Timer, **order: Any) -> tuple[Engine, Order]:
        shop = app(*steps)
        engine = Engine(shop)
        found = engine.submit(shop.workflows[0], {"orderId": "1", "total": 10, **order})
        engine.clock.move(30)
        return engine, found

    return begun


def test_the_example_in_the_docs_is_accepted() -> None:
    page = (Path(__file__).parents[3] / "docs" / "waiting.md").read_text()
    example: dict[str, Any] = {"__name__": "documented"}
    exec(compile(page.split("```python\n")[1].split("```")[0], "waiting.md", "exec", dont_inherit=True), example)  # noqa: S102

    assert [step.name for step in example["sales"].steps] == [
        "cooling-off", "approval", "charge", "return-window", "close"
    ]  # fmt: skip


def test_a_signal_ends_its_step_and_its_data_is_the_result(begin: Begin) -> None:
    """W2, I11: the order waits unpaid, and goes on with the answer."""
    engine, order = begin(approval(), charged())
    assert order.state == "Processing"
    assert engine.calls == []
    order.signal("approval", {"by": "ann"}, id="a-1")
    order.signal("approval", {"by": "ann"}, id="a-1")
    engine.run()
    assert order.state == "Processed"
    assert order.result("charge") == {"charged": "ann"}
    assert not engine.rejects, "the same signal again is no news"
    engine.verdict()


def test_a_signal_before_its_turn_is_kept_and_counts_then(begin: Begin) -> None:
    """W2, I11: early is not lost; a second one is told. Trap: a signal that comes before anybody waits for it."""
    engine, order = begin(Timer("cooling-off", hours(1)), approval(), charged())
    order.signal("approval", {"by": "early"}, id="a-1")
    order.signal("approval", {"by": "second"}, id="a-2")
    engine.clock.move(60)
    assert order.state == "Processing"
    engine.run()
    assert order.result("charge") == {"charged": "early"}
    assert order.step("approval").early is None, "it is not stored twice"
    assert [reject.reason for reject in engine.rejects] == ["signal 'approval' was given before, as a-1"]


def test_a_late_signal_is_told(begin: Begin) -> None:
    """W2, I11: it is a reject with the reason. Trap: a wait that has ended takes a signal and does nothing with it."""
    engine, order = begin(approval(on_timeout=Default({"by": "the clock"})), charged())
    engine.clock.move(3 * DAY)
    assert order.result("charge") == {"charged": "the clock"}
    order.signal("approval", {"by": "ann"})
    engine.run()
    assert [reject.reason for reject in engine.rejects] == ["signal 'approval' came too late: the step is Processed"]


def test_data_that_does_not_fit_is_a_reject_that_names_the_field(begin: Begin) -> None:
    """W2: the class of the signal's data is asked at the door."""
    engine, order = begin(approval(), charged())
    order.signal("approval", {"by": 7})
    engine.run(lambda: bool(engine.rejects))
    assert [(reject.field, reject.reason) for reject in engine.rejects] == [("data.by", "Expected `str`, got `int`")]
    assert order.state == "Processing"


def test_a_refused_signal_undoes_what_was_done(begin: Begin) -> None:
    """W2: a refusal takes the policy of the step."""
    engine, order = begin(charged(), approval(on_refused=UNDO), closed())
    order.signal("approval", refused="fraud")
    engine.run()
    assert order.state == "Undone"
    assert order.effects == ["charge", "charge/undo"]
    engine.verdict()


def test_a_refusal_that_came_early_counts_when_the_step_begins(begin: Begin) -> None:
    """W2, I11: the step ends in Error with its claim, and the order is undone if its policy says so."""
    for on_refused, state in ((ALERT, "Error"), (UNDO, "Undone")):
        engine, order = begin(Timer("cooling-off", hours(1)), approval(on_refused=on_refused), charged())
        order.signal("approval", refused="fraud")
        engine.clock.move(2 * 3_600)
        assert order.state == state
        assert order.effects == []


def test_nobody_is_asked_for_what_the_same_write_undoes(begin: Begin) -> None:
    """I6: the refusal came early, and the step beside the signal was claimed with it."""
    refused = approval(on_refused=UNDO, after=["cooling-off"])
    engine, order = begin(Timer("cooling-off", minutes(5)), charged(after=["cooling-off"]), refused)
    order.signal("approval", refused="fraud")
    engine.clock.move(2 * 3_600)
    assert (order.state, order.step("charge").attempt) == ("Undone", 0)
    assert engine.service(charge).calls == engine.service(refund).calls == []


def test_an_approval_after_a_refusal_counts(begin: Begin) -> None:
    """I11: what ends a wait counts until the step has ended, also in Error, and withdraws the alert."""
    engine, order = begin(approval(), charged())
    order.signal("approval", refused="in doubt")
    engine.clock.move(60)
    assert order.state == "Error"
    order.signal("approval", {"by": "ann"})
    engine.run()
    assert order.state == "Processed"


def test_an_operator_is_reminded_and_then_the_order_is_undone(begin: Begin) -> None:
    """W2: each reminder as often as it says, then the last policy."""
    policies = [Remind(days(1), rounds=2), Remind(hours(1), rounds=2), UNDO]
    engine, order = begin(charged(), approval(on_timeout=policies), closed())
    engine.clock.move(2 * DAY + 300)
    assert [alert.reason for alert in engine.alerts] == ["nobody gave the signal 'approval' yet"]
    engine.clock.move(DAY + 300)
    assert len(engine.alerts) == 2
    engine.clock.move(DAY + 300)
    assert (len(engine.alerts), order.state) == (3, "Processing")
    engine.clock.move(7_500)
    assert (len(engine.alerts), order.state) == (4, "Undone")
    engine.verdict()


@pytest.mark.parametrize(("span", "late"), [(minutes(5), 1_000), (days(7), 130_000)])
def test_a_timer_is_never_early(begin: Begin, span: timedelta, late: int) -> None:
    """W3: short ones end by a delayed message, long ones by the Supervisor; neither is early."""
    engine, order = begin(Timer("cooling-off", span), charged())
    engine.run()
    started, ended = order.step("cooling-off").started_at, order.step("cooling-off").ended_at
    assert started is not None
    assert ended is not None
    assert 0 <= ended - started - span.total_seconds() * 1000 <= late
    assert order.state == "Processed"
    engine.verdict()


def test_a_long_timer_costs_the_supervisor_no_look(begin: Begin) -> None:
    """W3: the task is due when the timer ends, not every minute."""
    engine, order = begin(Timer("cooling-off", days(7)), charged())
    assert order.task.due == order.step("cooling-off").complete_by
    revision = order.task.revision
    engine.clock.move(6 * DAY)
    assert order.task.revision == revision


@pytest.mark.parametrize(("hours_ahead", "waits"), [(-1, 0), (5, 5 * 3600)])
def test_a_timer_ends_at_the_orders_own_instant(begin: Begin, hours_ahead: int, waits: int) -> None:
    """W3: a past instant ends it in the claim, without a message."""
    ends = datetime.fromtimestamp(START / 1000, UTC) + timedelta(hours=hours_ahead)
    engine, order = begin(Timer("window", until=ref.order("ends", default="none")), charged(), ends=ends.isoformat())
    engine.run()
    at = order.step("window").ended_at or 0
    assert max(0, waits) * 1000 <= at - START <= waits * 1000 + 130_000
    assert ("step.retry" in order.timeline) == bool(waits)
    assert order.state == "Processed"


@pytest.mark.parametrize("ends", ["soon", "2026-12-24", "2026-12-24T12:00:00", "2999-01-01T00:00:00Z", None])
def test_an_instant_that_cannot_be_told_is_an_error_with_an_alert(begin: Begin, ends: str | None) -> None:
    """W3: nothing is guessed, and nothing skipped. Trap: a time without an offset is another one in each process."""
    window = Timer("window", until=ref.result("close", "ends", default="none"))
    engine, order = begin(closed(), window, charged(), note=ends)
    engine.clock.move(120)
    assert order.state == "Error"
    assert "close.ends" in engine.alerts[0].reason


@pytest.mark.parametrize(("total", "effects"), [(100, ["charge", "close"]), (10, ["close"])])
def test_a_step_whose_condition_does_not_hold_is_skipped(begin: Begin, total: int, effects: list[str]) -> None:
    """W4, I12: what waits for it goes on."""
    engine, order = begin(charged(when=ref.order("total") > 50), closed(), total=total)
    engine.run()
    assert order.effects == effects
    assert order.state == "Processed"
    engine.verdict()


def test_a_skipped_step_is_never_undone(begin: Begin) -> None:
    """I12."""
    engine, order = begin(charged(when=ref.order("total") > 50), approval(), closed())
    order.undo()
    engine.run()
    assert order.state == "Undone"
    assert order.effects == []
    assert order.step("charge").process_state == "Skipped"


def test_an_order_of_which_every_step_is_skipped_is_processed(begin: Begin) -> None:
    """I12, I1."""
    engine, order = begin(charged(when=ref.order("total") > 50), Timer("t", hours(1), when=ref.order("total") > 50))
    engine.run()
    assert order.state == "Processed"
    assert [notice.status for notice in engine.notices][-1] == "completed"


def test_what_cannot_be_told_is_an_error_and_a_resubmission_runs_it(begin: Begin) -> None:
    """W4: a service that breaks its promise causes no silent skip; an operator decides."""
    engine, order = begin(Step(screen, complete_within=minutes(1)), charged(when=ref.result(screen, "score") > 70))
    engine.clock.move(120)
    assert order.step("charge").error == "cannot tell whether screen.score is over 70; a resubmission runs the step"
    assert order.effects == ["screen"]
    order.resubmit("charge")
    engine.run()
    assert order.effects == ["screen", "charge"]
    engine.verdict()
