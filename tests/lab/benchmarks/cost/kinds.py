"""What one step of each kind adds to an order of three calls."""

from collections.abc import Mapping
from typing import Any

import msgspec

from stepward.cli.cost.counting import count
from stepward.cli.cost.estimate import Quantities
from stepward.cli.cost.priced import Priced
from stepward.domain.timing import days, minutes
from stepward.domain.workflow.children import Child, Each
from stepward.domain.workflow.definition import AnyStep, Step, Workflow
from stepward.domain.workflow.refs import ref
from stepward.domain.workflow.waits import Signal, Timer
from stepward.wire.order import OrderMessage
from tests.lab.benchmarks.workload import operations

RESERVE, CHARGE, SHIP, MORE, CHILD, _, FIND = operations(7)
LARGE = 10_000
"""Bytes of a large result."""


class Approval(msgspec.Struct):
    by: str


class Order(OrderMessage, frozen=True, kw_only=True):
    items: list[dict[str, Any]]


invoicing = Workflow("invoicing", 1, [Step(CHILD, complete_within=minutes(10))])
_BY_OPERATOR = Signal("release", Approval, complete_within=days(2), by="operators")
_NEVER = ref.order("orderId", default="") == ""
STEPS: Mapping[str, AnyStep] = {
    "a call": Step(MORE, complete_within=minutes(10)),
    "a call with a check": Step(MORE, name="checked", check=FIND, complete_within=minutes(10)),
    "a call that is answered later": Step(MORE, name="later", complete_within=minutes(10), answer_within=days(3)),
    "a call with a result of 10 KB": Step(MORE, name="large", complete_within=minutes(10)),
    "a signal, by a message": Signal("approval", Approval, complete_within=days(2)),
    "a signal, by an operator": _BY_OPERATOR,
    "a timer of half a minute": Timer("breath", minutes(0.5)),
    "a timer of five minutes": Timer("pause", minutes(5)),
    "a timer of a week": Timer("cooling-off", days(7)),
    "a step that is skipped": Step(MORE, name="skipped", complete_within=minutes(10), when=_NEVER),
    "a child of one call": Child("invoice", invoicing, complete_within=days(1)),
}


ITEMS = (3, 10, 11, 100, 1000)
_EACH = Each("parcels", ref.order("items"), Step(MORE, name="parcel", complete_within=minutes(10)), at_once=5)


def with_steps(*more: AnyStep, items: int = 3) -> Priced:
    """Orders of three calls, with `more` steps before the last."""
    first, second, last = (Step(each, complete_within=minutes(10)) for each in (RESERVE, CHARGE, SHIP))
    plan = Workflow("benchmark", 1, [first, second, *more, last], order=Order).plan()
    return Priced(plan, skipped=("skipped",), large={"large": LARGE}, items=items)


def every_kind() -> Priced:
    """Orders with a step of each kind."""
    return with_steps(*STEPS.values(), _EACH)


def added(batch: int) -> Mapping[str, Quantities]:
    """What each kind adds to an order that has as many items."""
    usual = count(with_steps(), batch)
    found = {kind: _less(count(with_steps(step), batch), usual) for kind, step in STEPS.items()}
    return found | {"an each of 3 items": _less(count(with_steps(_EACH), batch), usual)}


def an_item(items: int) -> Quantities:
    """What each of so many items of an each adds to an order, with single messages."""
    found = _less(count(with_steps(_EACH, items=items), 1), count(with_steps(items=items), 1))
    return {name: each / items for name, each in found.items()}


def _less(counted: Quantities, usual: Quantities) -> Quantities:
    return {name: round(counted[name] - usual[name], 3) for name in counted}
