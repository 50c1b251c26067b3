import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.workflow.agents import Agent, Operation
from stepward.domain.workflow.conditions import all_of, any_of, none_of, words
from stepward.domain.workflow.definition import AnyStep, Step, Workflow
from stepward.domain.workflow.plan import Plan
from stepward.domain.workflow.ref_checks import Scope, check_ref, check_refs
from stepward.domain.workflow.refs import Condition, Ref, ref
from stepward.domain.workflow.shapes import ShapeKind, shape_of
from stepward.domain.workflow.waits import Signal
from stepward.wire.order import OrderMessage, Timestamp
from tests.factories import planned

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]


class Address(msgspec.Struct, rename="camel"):
    country: str
    post_code: str | None


class Parcel(msgspec.Struct):
    qty: int
    within: "list[Parcel]" = []


class Sale(OrderMessage, frozen=True, kw_only=True):
    total: str
    express: bool
    address: Address
    bill_to: Address | None = None
    extra: Mapping[str, Any]
    parcels: list[Parcel]
    window_ends: Timestamp
    choice: Literal["a", "b"] | None


@dataclass
class Score:
    score: int
    model: str = "v1"


class Rating(TypedDict):
    score: Decimal
    note: NotRequired[str]


def typed(_: Any) -> Score: ...  # type: ignore[empty-body]


def rated(_: Any) -> Rating: ...  # type: ignore[empty-body]


def untyped(_: Any) -> Mapping[str, Any]: ...  # type: ignore[empty-body]


def elsewhere(_: Any) -> "Unknown": ...


RUNS: Mapping[str, Sequence[Callable[..., Any]]] = {
    "screen": [typed],
    "rate": [rated],
    "approve": [Score],
    "ship": [untyped],
    "either": [typed, rated],
    "hidden": [elsewhere],
}
BEFORE = tuple(RUNS)
PLAN = Plan("fulfilment", 1, (*map(planned, BEFORE), planned("beside"), planned("close", *BEFORE)))
total, country = ref.order("total"), ref.order("address.country")
bill, extra, untold = ref.order("billTo.country"), ref.order("extra.code"), ref.result("ship", "parcel")
score = ref.result("screen", "score")


def check(condition: Condition, order: type[Any] | None = Sale, **others: Condition) -> None:
    asked = {"close": condition, **others}
    steps = [replace(step, when=asked[step.name].frozen) if step.name in asked else step for step in PLAN.steps]
    check_refs(replace(PLAN, steps=tuple(steps)), order, RUNS)


@pytest.mark.parametrize(
    "condition",
    [
        total > 5,
        country == "DE",
        score > 70,
        ref.result("approve", "score") > 70,
        ref.result("rate", "score") > 70,
        ref.order("express") == False,  # noqa: E712 - data, not a comparison
        ref.order("parcels").exists(),
        ref.order("billTo.country", default="DE") == "DE",
        all_of(bill.exists(), bill == "DE"),
        all_of(ref.order("billTo").exists(), bill == "DE"),
        any_of(none_of(bill.exists()), bill == "DE"),
        none_of(none_of(bill.exists()), bill == "DE"),
        all_of(
            any_of(country == "DE", total > 1),
            all_of(bill.exists(), extra.exists()),
            any_of(bill == "DE", extra == "x"),
        ),
        all_of(untold.exists(), untold == "x"),
        ref.result("ship").exists(),
        ref.result("hidden", "any", default=1) > 0,
    ],
    ids=repr,
)
def test_a_condition_that_can_always_be_told_is_accepted(condition: Condition) -> None:
    """W4."""
    check(condition)


def may_be_missing(name: str) -> str:
    return f"{name} may be missing; give it a default=, or put its .exists() beside it in all_of(…)"


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (ref.order("totl") > 5, "order has no field 'totl'; Sale has total, express, address, billTo, extra,"),
        (ref.order("address.postcode") == "1", "order.address has no field 'postcode'; Address has postCode, country"),
        (ref.order("bill_to").exists(), "order has no field 'bill_to'"),
        (ref.order("total.amount") > 5, "reads 'amount' of order.total, which is a text"),
        (ref.order("parcels") == "x", "is a list, and never compares with 'x'; compare a field that holds a text"),
        (ref.order("express") > 1, "order.express is a bool, and never compares with 1"),
        (ref.order("windowEnds") > 1, "order.windowEnds is a zoned time, and never compares with 1"),
        (score == "high", "screen.score is a number, and never compares with 'high'"),
        (ref.result("approve", "scor") > 1, "approve has no field 'scor'; Score has score, model"),
        (ref.result("screen", "scor") > 1, "screen has no field 'scor'; Score has score, model"),
        (bill == "DE", may_be_missing("order.billTo.country")),
        (ref.order("address.postCode") == "1", may_be_missing("order.address.postCode")),
        (ref.order("priority") == "high", may_be_missing("order.priority")),
        (ref.order("choice") == "a", may_be_missing("order.choice")),
        (ref.order("extra.code") == "1", may_be_missing("order.extra.code")),
        (untold == "x", may_be_missing("ship.parcel")),
        (ref.result("either", "score") > 1, may_be_missing("either.score")),
        (ref.result("hidden", "score") > 1, may_be_missing("hidden.score")),
        (ref.result("rate", "note") == "x", may_be_missing("rate.note")),
        (ref.result("screen", "model") == "x", may_be_missing("screen.model")),
        (any_of(bill.exists(), bill == "DE"), may_be_missing("order.billTo.country")),
        (all_of(none_of(bill.exists()), bill == "DE"), may_be_missing("order.billTo.country")),
        (all_of(extra.exists(), bill == "DE"), may_be_missing("order.billTo.country")),
        (ref.result("beside", "x", default=1) > 0, "reads the result of 'beside', which may not be done by then"),
        (ref.result("close", "x", default=1) > 0, "reads the result of 'close', which comes no sooner; write this"),
        (ref.result("scren", "x") > 1, "reads the result of 'scren', which is no step; the steps are screen, rate"),
        (ref.item("x") > 1, "reads an item, and only a step of an Each has one"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_condition_that_may_not_be_told_is_refused_with_its_mend(condition: Condition, sentence: str) -> None:
    """W4."""
    with pytest.raises(WorkflowError) as caught:
        check(condition)
    assert str(caught.value).startswith("workflow 'fulfilment', step 'close': ")
    assert sentence in str(caught.value)


def test_the_result_of_a_step_that_may_be_skipped_may_be_missing() -> None:
    """W4, I12."""
    with pytest.raises(WorkflowError, match=r"screen\.score may be missing"):
        check(score > 1, screen=total > 1)
    check(all_of(ref.result("screen").exists(), score > 1), screen=total > 1)
    check(ref.result("screen", "score", default=0) > 1, screen=total > 1)


def test_a_workflow_without_a_class_for_its_orders_knows_no_field() -> None:
    with pytest.raises(WorkflowError, match=r"order\.total may be missing"):
        check(total > 5, None)
    check(ref.order("total", default=0) > 5, None)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (ref.order("windowEnds"), ShapeKind.INSTANT),
        (ref.order("parcels"), ShapeKind.LIST),
        (ref.order("address"), ShapeKind.OBJECT),
        (ref.order("completeBy", default="2026-01-01T00:00:00Z"), ShapeKind.INSTANT),
    ],
    ids=repr,
)
def test_a_ref_alone_tells_what_its_value_is(value: Ref, kind: ShapeKind) -> None:
    scope = Scope.of("close", PLAN, Sale, RUNS)

    assert check_ref(scope, value.frozen).kind is kind
    with pytest.raises(WorkflowError, match=r"step 'close': order\.billTo may be missing; give it a default="):
        check_ref(scope, ref.order("billTo").frozen)


def test_the_element_of_a_list_is_the_item_of_an_each() -> None:
    parcels = check_ref(Scope.of("close", PLAN, Sale, RUNS), ref.order("parcels").frozen)
    scope = Scope("here", shape_of(Sale), {}, (), item=parcels.element)

    assert check_ref(scope, ref.item("qty").frozen).kind is ShapeKind.NUMBER
    with pytest.raises(WorkflowError, match=r"item\.within may be missing"):
        check_ref(scope, ref.item("within").frozen)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (ref.result("approval", "score"), ""),
        (ref.result("approval", "scor"), "approval has no field 'scor'; Score has score, model"),
        (ref.result("charge", "paid"), "charge.paid may be missing"),
        (ref.order("version"), ""),
        (ref.order("versoin"), "order has no field 'versoin'"),
    ],
    ids=repr,
)
def test_a_workflow_checks_its_refs_when_it_is_imported(value: Ref, sentence: str) -> None:
    """W4: also those to what a signal brings."""
    minute, bank = timedelta(minutes=1), Agent("bank")
    charge, close = (Step(Operation(bank, name, untyped), complete_within=minute) for name in ("charge", "close"))
    steps: list[AnyStep] = [Signal("approval", Score, complete_within=minute), charge, replace(close, when=value > 1)]

    with pytest.raises(WorkflowError, match=re.escape(sentence)) if sentence else nullcontext():
        Workflow("sales", 1, steps, order=Sale)


def test_the_example_in_the_docs_is_accepted() -> None:
    """W4."""
    page = (Path(__file__).parents[3] / "docs" / "conditions.md").read_text()
    example: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], example)  # noqa: S102 - our own page

    assert words(example["risky"].frozen) == (
        'when screen.score is over 70 or (screen.list_name exists and screen.list_name is not "trusted")'
    )
