"""What exists, but is in a row of its own, is never taken for missing: W4, W5, I12."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from stepward import (
    Agent,
    App,
    Call,
    Child,
    Each,
    OrderMessage,
    Step,
    Timer,
    Workflow,
    WorkflowError,
    all_of,
    any_of,
    minutes,
    ref,
)
from stepward.domain.workflow.definition import AnyStep
from stepward.domain.workflow.refs import Condition
from stepward.testing import Engine
from stepward.testing.harness import Order
from tests.unit.steps.parcels import PACK, SHIP, Sale, app, begun, charge, close, pack, parcels, ship

bank = Agent("bank")
LARGE = {"score": 90, "lines": parcels(2), "pad": "x" * 3_000}
READS = "is in a result over 2,000 bytes, which only operations read; put it into a small one"


class Inner(OrderMessage, frozen=True, kw_only=True):
    type: Literal["inner.submitted"] = "inner.submitted"
    score: int


@bank.operation
def screen(_: Call) -> Mapping[str, Any]:
    return LARGE


@bank.operation
def review(call: Call) -> Mapping[str, Any]:
    return {"read": sorted(call.results)}


SCREEN, REVIEW = (Step(operation, complete_within=minutes(1)) for operation in (screen, review))
INNER = Workflow("inner", version=1, order=Inner, steps=[REVIEW])
score = ref.result(screen, "score", default=0)
lines = ref.result(screen, "lines")


def submitted(*steps: AnyStep, **order: Any) -> tuple[Engine, Order]:
    sales = Workflow("sales", version=1, steps=steps)
    shop = App("shop", workflows=[sales, INNER], default=sales)
    engine = Engine(shop)
    placed = engine.submit(shop.workflows[0], {"orderId": "1", **order})
    engine.run()
    return engine, placed


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (score > 70, "screen.score"),
        (ref.result(screen, "none", default="") != "", "screen.none"),
        (ref.result(screen).exists(), "screen"),
        (all_of(ref.order("orderId").exists(), lines.exists()), "screen.lines"),
    ],
    ids=repr,
)
def test_a_condition_on_a_large_result_cannot_be_told(condition: Condition, value: str) -> None:
    """W4, I12: neither a default nor an exists() skips the step; a resubmission runs it, as the alert says."""
    engine, order = submitted(SCREEN, replace(REVIEW, when=condition))
    error = order.step(review).error or ""
    assert (order.state, [alert.alert_id for alert in engine.alerts]) == ("Error", ["1/review/1"])
    assert (error.startswith("cannot tell whether "), error.count(f"; {value} {READS}; ")) == (True, 1)
    assert error.endswith("; a resubmission runs the step")
    order.resubmit(review)
    engine.run()
    assert (order.state, order.effects) == ("Processed", ["screen", "review"])
    engine.verdict()


def test_another_part_still_decides_alone() -> None:
    _, order = submitted(SCREEN, replace(REVIEW, when=any_of(score > 70, ref.order("orderId").exists())))
    assert (order.state, order.result(review)) == ("Processed", {"read": ["screen"]})


def test_a_long_condition_leaves_room_for_the_reason() -> None:
    _, order = submitted(SCREEN, replace(REVIEW, when=score.one_of(*range(10**9, 10**9 + 20))))
    assert (order.step(review).error or "").endswith(f"; screen.score {READS}; a resubmission runs the step")


LIST = Each("makes", lines, SHIP, when=any_of(ref.order("orderId").exists(), lines.exists()))


@pytest.mark.parametrize(
    ("step", "value"),
    [
        (LIST, "screen.lines"),
        (Timer("makes", until=ref.result(screen, "score", default="2026-01-31T12:00:00Z")), "screen.score"),
        (
            Child(
                "makes",
                INNER,
                order={"score": ref.result(screen, "score", default=0)},
                complete_within=minutes(9),
            ),
            "screen.score",
        ),
    ],
    ids=["list", "instant", "order of a child"],
)
def test_whatever_else_reads_a_large_result_is_an_error_that_names_it(step: AnyStep, value: str) -> None:
    """W4, W5: an undo takes the order back."""
    engine, order = submitted(SCREEN, step)
    assert (order.state, order.step("makes").error) == ("Error", f"{value} {READS}")
    order.undo()
    engine.run()
    assert order.state == "Undone"
    engine.verdict()


@pytest.mark.parametrize("count", [2, 11])
def test_a_step_of_an_item_does_not_take_a_large_result_for_missing(count: int) -> None:
    """W4: neither that of its item's earlier step, nor, in a child of ten, that of a step before the each."""
    shop = app(PACK, replace(SHIP, when=ref.result("pack" if count == 2 else charge, "split").exists()))
    engine, order = begun(shop, count)
    for operation in (pack, charge):
        engine.service(operation).returns({"split": [], "pad": LARGE["pad"]})
    engine.clock.move(600)
    place = engine.order("1#parcels.0") if count == 11 else order
    assert READS in (place.step("parcels[0].ship").error or "")
    place.resubmit("parcels[0].ship")
    engine.run(lambda: bool(engine.service(ship).calls))
    assert ("charge" in engine.service(ship).calls[0].results) is (count == 2), "requests hold what is at hand"


def test_a_request_has_all_results_of_an_each_or_none() -> None:
    """Ten items of 70,000 bytes are more than a request holds: no null stands for one of them."""
    engine, order = begun(app(at_once=10), 10)
    engine.service(ship).returns({"p": "x" * 70_000})
    engine.run()
    assert (order.state, sorted(engine.service(close).calls[0].results)) == ("Processed", ["charge"])


@pytest.mark.parametrize(
    "last",
    [
        replace(REVIEW, when=ref.result("parcels", "count", default=0) > 10),
        Each("again", ref.result("parcels", "items"), REVIEW, when=ref.order("note").exists()),
        Child(
            "again",
            INNER,
            order={"score": ref.result("parcels", "count", default=0)},
            complete_within=minutes(9),
        ),
    ],
    ids=["condition", "list", "order of a child"],
)
def test_nothing_but_an_operation_reads_the_result_of_an_each(last: AnyStep) -> None:
    """W5: its form depends on how many items it has, so a ref into it is refused at import."""
    says = (
        "reads the result of the each 'parcels', which is its items or, over ten, their count; read it in an operation"
    )
    with pytest.raises(WorkflowError, match=re.escape(says)):
        Workflow("sales", version=1, order=Sale, steps=[Each("parcels", ref.order("parcels"), SHIP), last])
