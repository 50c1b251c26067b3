"""Orders that `stepward cost` runs in memory, whatever their workflow waits for."""

from datetime import datetime
from typing import Annotated

import msgspec
import pytest

from stepward.cli.cost.counting import count
from stepward.cli.cost.priced import Priced, calls_in_a_row
from stepward.domain.errors import Misconfigured
from stepward.domain.timing import days, minutes
from stepward.domain.workflow.children import Child, Each
from stepward.domain.workflow.definition import AnyStep, Step, Workflow
from stepward.domain.workflow.refs import ref
from stepward.domain.workflow.waits import Signal, Timer
from stepward.wire.order import OrderMessage
from tests.lab.benchmarks.workload import operations

FIRST, SECOND = (Step(each, complete_within=minutes(10)) for each in operations(2))


class Sale(OrderMessage, frozen=True, kw_only=True):
    window_ends: Annotated[datetime, msgspec.Meta(tz=True)]
    lines: list[int]


class Approval(msgspec.Struct):
    by: str


def priced(*steps: AnyStep) -> Priced:
    return Priced(Workflow("sales", 1, steps, order=Sale).plan())


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Signal("approval", Approval, complete_within=days(1)), id="a signal, from an operator"),
        pytest.param(
            Timer("window", until=ref.order("windowEnds"), when=ref.order("orderId") == "1042"), id="a condition"
        ),
        pytest.param(Each("lines", ref.order("lines"), SECOND), id="a list"),
    ],
)
def test_a_child_is_priced_with_all_that_its_order_would_decide(step: AnyStep) -> None:
    """W5: its order, its conditions and its signals are stand-ins as those of its parent are."""
    inner = Workflow("inner", 1, [FIRST, step], order=Sale)
    of_child = priced(FIRST, Child("inner", inner, order={"lines": ref.order("lines")}, complete_within=days(1)))

    assert count(of_child, 1)["write units"] > count(priced(FIRST), 1)["write units"] + 8


@pytest.mark.parametrize(
    ("large", "why"),
    [
        ({"result_bytes": 400_000}, "an order ends in Error, at reserve: "),
        ({"items": 8000}, "an order was not accepted; it may be too large"),
    ],
)
def test_an_order_that_does_not_succeed_is_not_priced(large: dict[str, int], why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        count(Priced(calls_in_a_row(1), **large), 1)  # type: ignore[arg-type]
