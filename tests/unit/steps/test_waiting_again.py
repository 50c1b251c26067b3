"""What a wait does with messages that come again: W2, W3, I1, I8, I11."""

from __future__ import annotations

import json

import pytest

from stepward import Signal, Timer, days, hours, minutes
from stepward.domain.messages import Notice, Retry, SignalGiven, Start, StepRequest
from stepward.domain.task.decide import decide
from stepward.domain.timing import Timing
from stepward.testing import Engine
from tests.unit.steps.test_waiting import Approval, Begin, app, approval, begin, charged

__all__ = ["begin"]


@pytest.mark.parametrize("wait", [approval(), Timer("approval", hours(1))], ids=["signal", "timer"])
def test_a_wait_whose_start_is_lost_begins_all_the_same(wait: Signal | Timer) -> None:
    """I1."""
    with Engine(app(wait, charged())) as engine:
        engine.lose("scheduler")
        order = engine.submit(None, {"orderId": "1", "total": 10})
        engine.clock.move(300)
        assert order.step("approval").process_state == "Processing"


def test_a_signal_that_comes_again_asks_again_for_what_follows(begin: Begin) -> None:
    """I1, I8: whoever took it the first time may have died before anything was sent."""
    engine, order = begin(approval(), charged())
    order.signal("approval", {"by": "ann"}, id="a-1")
    engine.run(lambda: order.step("charge").runs)
    plan, given = engine.parts.store.plans[order.task.plan_id], SignalGiven("1", "approval", "a-1", {"by": "ann"})
    again = decide(order.task, plan, given, now=engine.clock.now, by="scheduler-1", timing=Timing())
    assert again.task is order.task
    asked, notice = again.messages
    assert isinstance(asked, StepRequest)
    assert isinstance(notice, Notice)
    assert asked.token == order.step("charge").token


@pytest.mark.parametrize("waits", [[], [Timer("cooling-off", minutes(5))]], ids=["in turn", "early"])
def test_a_signals_id_is_its_senders_and_says_nothing_of_another_step(begin: Begin, waits: list[Timer]) -> None:
    """W2, I11. Trap: an engine that makes the ids drops one of two signals, or takes one twice."""
    engine, order = begin(*waits, approval(), Signal("goods", Approval, complete_within=days(2)), charged())
    unnamed = {"type": "order.signal", "orderId": "1", "name": "approval", "data": {"by": "nobody"}}
    engine.post("orders", json.dumps(unnamed))
    for name, by in (("goods", "bob"), ("approval", "ann"), ("goods", "bob")):
        order.signal(name, {"by": by}, id="today-1")
    engine.run()
    assert [order.result(name) for name in ("approval", "goods")] == [{"by": "ann"}, {"by": "bob"}]
    assert [(reject.field, reject.reason) for reject in engine.rejects] == [("signalId", "is missing")]
    engine.verdict()


def test_a_timer_that_is_asked_for_again_after_its_end_is_sent_at_once(begin: Begin) -> None:
    """I1: a queue refuses a delay below zero, and the message would come back for ever."""
    engine, order = begin(Timer("cooling-off", minutes(5)), charged())
    late, plan = (order.step("cooling-off").complete_by or 0) + 60_000, engine.parts.store.plans[order.task.plan_id]
    again = decide(order.task, plan, Start("1"), now=late, by="scheduler-1", timing=Timing()).messages
    assert [message.delay for message in again if isinstance(message, Retry)] == [0]


def test_what_ended_an_order_notifies_its_submitter_again_when_it_comes_again(begin: Begin) -> None:
    """S19, I8: whoever took it the first time may have died before the notice was out."""
    engine, order = begin(charged(), Timer("cooling-off", minutes(5)))
    engine.run()
    plan, now = engine.parts.store.plans[order.task.plan_id], engine.clock.now
    again = decide(order.task, plan, Retry("1", "cooling-off", 1), now=now, by="scheduler-1", timing=Timing()).messages
    assert [message.status for message in again if isinstance(message, Notice)] == ["completed"]
