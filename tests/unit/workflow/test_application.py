"""An application is checked when it is imported: no message may mean two workflows, no name two things."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.key import Keys
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.application import App
from stepward.domain.workflow.definition import Step, Workflow
from stepward.wire.order import OrderMessage

bank, depot = Agent("bank"), Agent("depot", services=("depot", "maps"))


def answers(call: Call) -> Mapping[str, Any]:
    return {"attempt": call.attempt}


charge, refund, pick = Operation(bank, "charge", answers), Operation(bank, "refund", answers), depot.operation(answers)


class Return(OrderMessage, frozen=True, kw_only=True):
    """The messages of another workflow."""

    type: Literal["return.submitted"]


class Narrower(Return, frozen=True, kw_only=True):
    """Their type is that of their own class's parent."""


class Twofold(OrderMessage, frozen=True, kw_only=True):
    """A type too many."""

    type: Literal["gift.submitted", "gift.ordered"]


class Ours(OrderMessage, frozen=True, kw_only=True):
    """The type of a cancellation."""

    type: Literal["order.cancelled"]


class Long(OrderMessage, frozen=True, kw_only=True):
    """More than 40 characters."""

    type: Literal["a.returned-order-that-somebody-has-submitted"]


def flow(name: str, *operations: Operation, order: type[Any] | None = None, **more: Any) -> Workflow:
    steps = [Step(each, complete_within=minutes(1)) for each in operations or (charge,)]
    return Workflow(name, version=1, order=order, steps=steps, **more)


sales, returns = flow("sales", charge), flow("returns", pick, order=Return)


def test_the_keys_of_an_application_name_the_default_workflow_first() -> None:
    """W1."""
    app = App("shop", [returns, replace(sales, per_customer=True)], default=replace(sales, per_customer=True))
    assert app.keys == Keys(("sales", "returns"), frozenset({"sales"}), ("order.submitted", "return.submitted"))
    assert [(type_, plan.workflow) for type_, plan in app.plans().items()] == [
        ("order.submitted", "sales"),
        ("return.submitted", "returns"),
    ]
    assert app.schemas == {"return.submitted": Return}
    assert App("shop", [flow("only", order=Narrower)]).keys.types == ("return.submitted",)


def test_what_a_message_names_by_type_it_names_by_workflow() -> None:
    """W1: and back; an application that is not known has the one type that all have."""
    keys = App("shop", [sales, returns], default=sales).keys
    assert [keys.submitted(keys.type_of(name)) for name in ("sales", "returns", "")] == ["sales", "returns", "sales"]
    assert (Keys().submitted("order.submitted"), Keys().type_of("any")) == ("", "order.submitted")


def test_agents_are_shared_by_the_workflows() -> None:
    """W1: an operation that drains in one workflow does not if another one begins it."""
    draining = [Step(each, complete_within=minutes(9)) for each in (refund, pick)]
    app = App("shop", [replace(sales, draining=draining), returns], default=sales_of(draining))

    assert [agent.name for agent in app.agents] == ["bank", "depot"]
    assert (set(app.operations("bank")), set(app.operations("depot"))) == ({"charge", "refund"}, {"answers"})
    assert app.services == {"bank": "bank", "depot": "depot", "maps": "depot"}
    assert app.drained == {"bank": ["refund"]}
    assert sorted(step.complete_within // 60_000 for step in app.planned()) == [1, 1, 9, 9]


def sales_of(draining: list[Step]) -> Workflow:
    return replace(sales, draining=draining)


@pytest.mark.parametrize(
    ("workflows", "default", "fault"),
    [
        ([], None, "app 'shop': 0 workflows; an app has 1 to 20"),
        ([flow(f"w{number}") for number in range(21)], None, "21 workflows"),
        ([sales, flow("sales", order=Return)], sales, "2 different workflows are named 'sales'; rename one"),
        ([sales, returns], None, "a message may name no workflow; say which one it means: default=sales"),
        ([sales], returns, "a message may name no workflow; say which one it means: default=sales"),
        ([sales, flow("gifts")], sales, "messages of type 'order.submitted' are for workflow 'sales' and for 'gifts'"),
        ([sales, returns, flow("swaps", order=Narrower)], sales, "'return.submitted' are for workflow 'returns' and"),
        ([flow("gifts", order=Twofold)], None, "declares the type 'gift.submitted' or 'gift.ordered'; a type is one"),
        ([flow("gifts", order=Ours)], None, "declares the type 'order.cancelled'; .* does not begin as the engine's"),
        ([flow("gifts", order=Long)], None, "of up to 40 lower-case letters"),
        (
            [sales, flow("returns", Operation(Agent("bank", 7), "settle", answers), order=Return)],
            sales,
            "app 'shop': 2 different agents are named 'bank'; rename one",
        ),
        (
            [sales, flow("returns", Operation(bank, "charge", lambda _: {}), order=Return)],
            sales,
            "app 'shop': 2 different operations are named 'bank.charge'; rename one",
        ),
    ],
)
def test_an_application_that_is_ambiguous_is_refused(
    workflows: list[Workflow], default: Workflow | None, fault: str
) -> None:
    """W1."""
    with pytest.raises(WorkflowError, match=fault):
        App("shop", workflows, default)
