"""A signal that comes before its order waits for it, as a cancellation does: W2, I11."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from stepward import Step, hours
from stepward.app.scheduler.wishes import Wishes
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.history import HistoryKind
from stepward.domain.messages import OPERATORS, SignalGiven
from stepward.domain.wish import LASTS
from stepward.testing import Engine
from stepward.testing.harness import Order
from stepward.wire.messages import encode
from tests.unit.steps.test_waiting import app, approval, charge, charged, refund

SHOP = app(approval(), charged())
PATIENT = app(approval(), Step(charge, undo=refund, complete_within=hours(1)))
OWN, ANOTHERS = {"customerId": "acme"}, {"customerId": "stranger"}
GIVEN = {"type": "order.signal", "name": "approval", "signalId": "a-1", "data": {"by": "ann"}}
CANCELLED = {"type": "order.cancelled"}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(SHOP) as engine:
        yield engine


def early(engine: Engine, *messages: Mapping[str, Any]) -> Order:
    """The order of `acme`, which comes after these messages."""
    for message in messages:
        engine.post("orders", json.dumps({"orderId": "1", **message}))
        engine.clock.move(0)
    order = engine.submit(None, {"orderId": "1", "total": 10, **OWN})
    engine.clock.move(60)
    return order


def told(engine: Engine) -> list[str]:
    return [reject.reason for reject in engine.rejects]


def test_a_signal_before_its_order_counts_once(engine: Engine) -> None:
    order = early(engine, GIVEN, GIVEN)
    assert (order.state, order.result("charge"), told(engine)) == ("Processed", {"charged": "ann"}, [])
    engine.verdict()


@pytest.mark.parametrize(("part", "calls"), [("submission", 5), ("scheduler", 5)])
def test_neither_order_nor_signal_is_lost_wherever_a_process_dies(part: str, calls: int) -> None:
    for call in range(1, calls):
        for after in (False, True):
            with Engine(PATIENT) as engine:
                engine.kill(part, call, after=after)
                order = early(engine, GIVEN)
                engine.clock.move(1800)
                assert (order.state, order.result("charge")) == ("Processed", {"charged": "ann"})
                assert order.step("charge").attempt == 1, "the next delivery asks again"
                engine.verdict()


@pytest.mark.parametrize(
    ("messages", "state", "tells"),
    [
        ([GIVEN, GIVEN | {"signalId": "a-2"}], "Processed", ["signal 'approval' was given before, as a-1"]),
        ([GIVEN | {"name": "aproval"}], "Processing", ["'aproval' is not a step of this task"]),
        ([GIVEN, CANCELLED], "Undone", []),
        ([CANCELLED, GIVEN], "Undone", ["signal 'approval' came too late: the step is Stopped"]),
        ([GIVEN | ANOTHERS, GIVEN | OWN], "Processed", ["is 'stranger'; the order is one of 'acme'"]),
        ([CANCELLED | ANOTHERS, GIVEN | OWN], "Processed", ["is 'stranger'; the order is one of 'acme'"]),
        ([CANCELLED | ANOTHERS, CANCELLED | OWN], "Undone", ["is 'stranger'; the order is one of 'acme'"]),
        (
            [GIVEN | {"name": f"approval-{number}"} for number in range(10)] + [GIVEN],
            "Processing",
            ["10 signals wait for this order; send the order, then the rest"]
            + [f"'approval-{number}' is not a step of this task" for number in range(10)],
        ),
        (
            [CANCELLED | {"customerId": f"c{number}"} for number in range(11)],
            "Processing",
            ["10 customers wish something of this order, which has not come"]
            + [f"is 'c{number}'; the order is one of 'acme'" for number in range(10)],
        ),
    ],
    ids=[
        "given twice",
        "no such step",
        "cancelled after it",
        "cancelled before it",
        "another's signal",
        "another's cancellation before the signal",
        "another's cancellation before the own",
        "too many signals",
        "too many customers",
    ],
)
def test_what_the_order_does_not_take_is_told(
    engine: Engine, messages: list[Mapping[str, Any]], state: str, tells: list[str]
) -> None:
    """I11, W1: each is applied, a duplicate or told, and another customer's takes nobody's place."""
    order = early(engine, *messages)
    assert order.state == state
    assert sorted(told(engine)) == sorted(tells)
    if order.task.has_ended:
        engine.verdict()


SECOND = encode(SignalGiven("1", "approval", "a-2", {"by": "bob"}, "", "ada", OPERATORS))


@pytest.mark.parametrize(
    ("queue", "early_one"),
    [
        ("orders", json.dumps({"orderId": "1", **GIVEN, "signalId": "a-3", "name": "aproval"})),
        ("orders", json.dumps({"orderId": "1", **GIVEN, **ANOTHERS})),
        ("orders", json.dumps({"orderId": "1", **CANCELLED, **ANOTHERS})),
        ("scheduler", SECOND),
    ],
)
def test_what_the_order_does_not_take_is_noted_if_the_process_dies_that_tells_it(queue: str, early_one: str) -> None:
    """I11: the write took the wish away, and a second delivery of the order finds none."""
    for call in range(1, 5):
        with Engine(PATIENT) as engine:
            engine.post("orders", json.dumps({"orderId": "1", **GIVEN}))
            engine.clock.move(0)
            engine.post(queue, early_one)
            engine.clock.move(0)
            engine.kill("submission", call, after=True)
            order = early(engine)
            engine.clock.move(1800)
            assert order.result("charge") == {"charged": "ann"}
            assert any("which the order does not take" in entry.note for entry in order.task.history)


def test_a_signal_whose_order_never_comes_is_told_and_dropped(engine: Engine) -> None:
    engine.post("orders", json.dumps({"orderId": "1", **GIVEN}))
    engine.clock.move(LASTS / 1000 + 60)
    engine.parts.sweep("supervisor-1")
    unmet = [entry for _, entry in engine.parts.telemetry.history if entry.kind is HistoryKind.UNMET]
    assert [(entry.step, entry.note) for entry in unmet] == [("approval", "no such order came in 30 days: a-1")]
    assert engine.parts.store.wish("1") is None


def test_a_signal_that_the_index_lists_too_early_is_kept(engine: Engine) -> None:
    """I9, I11: the Supervisor may have read of an older one, which this one has replaced."""
    engine.post("orders", json.dumps({"orderId": "1", **GIVEN}))
    engine.clock.move(0)
    assert Wishes(engine.parts.store, lambda: engine.clock.now).take("1", DeadlineCheck()) == ()
    assert engine.parts.store.wish("1")
