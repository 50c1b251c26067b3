"""What a workflow may say of policies, fallbacks and the point of no return, checked when it is imported."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.definition import Fallback, RetryAfter, Step, Workflow
from stepward.domain.workflow.plan import Exhausted, Policy
from tests.factories import ALERTS, HOUR, MINUTE, UNDOES, falls_back, waits

bank, broker, post = Agent("bank"), Agent("broker"), Agent("post")


def operation(agent: Agent, name: str) -> Operation:
    def run(_: Call) -> Mapping[str, Any]:
        return {}

    return Operation(agent, name, run)


charge, refund = operation(bank, "charge"), operation(bank, "refund")
charge_there, refund_there = operation(broker, "charge_there"), operation(broker, "refund_there")
charge_later, charge_by_post = operation(broker, "later"), operation(post, "charge_by_post")
ship = operation(post, "ship")


def step(done_by: Operation, **settings: Any) -> Step:
    return Step(done_by, **{"complete_within": minutes(1)} | settings)


def policies(**settings: Any) -> tuple[Policy, ...]:
    return Workflow("pay", 1, [step(charge, undo=refund, **settings)]).plan().steps[0].exhausted


def refusal(*steps: Step) -> str:
    with pytest.raises(WorkflowError) as caught:
        Workflow("pay", 1, steps)
    return str(caught.value)


def test_what_is_not_said_is_an_alert() -> None:
    """S13: the last policy is always an end."""
    assert policies() == (ALERTS,)
    assert policies(on_timeout=[]) == (ALERTS,)
    assert policies(on_timeout=RetryAfter(minutes(1))) == (waits(MINUTE), ALERTS)
    assert policies(on_timeout=Exhausted.UNDO) == (UNDOES,)


def test_policies_follow_each_other_as_they_are_written() -> None:
    """S13: as data, frozen with the plan."""
    chain = [RetryAfter(minutes(60), rounds=2), Fallback(charge_there, undo=refund_there), Exhausted.UNDO]

    assert policies(on_timeout=chain) == (
        waits(HOUR, 2),
        replace(falls_back("broker", "charge_there"), undo_agent="broker", undo="refund_there", at_once=10),
        UNDOES,
    )


def test_a_fallback_needs_no_undo_of_its_own() -> None:
    """S13: nobody takes over from the last."""
    assert policies(on_timeout=Fallback(charge_there))[0].undo == ""


def test_an_agent_of_a_fallback_is_an_agent_of_the_workflow() -> None:
    """S3, S21: its queue and its function are derived from it."""
    workflow = Workflow("pay", 1, [step(charge, undo=refund, on_timeout=Fallback(charge_there, undo=refund_there))])

    assert [agent.name for agent in workflow.agents] == ["bank", "broker"]
    assert set(workflow.operations("broker")) == {"charge_there", "refund_there"}
    assert workflow.plan().agents == ("bank", "broker")


def test_the_longest_wait_is_taken() -> None:
    """S13."""
    assert policies(on_timeout=RetryAfter(minutes(43200), 100))[0].rounds == 100


NO_WAITS = [
    Exhausted.WAIT,
    *(RetryAfter(minutes(n)) for n in (0, -1, 43201)),
    *(RetryAfter(minutes(1), n) for n in (0, 101)),
]
NEVER = "a wait is up to 30 days, 1 to 100 times: RetryAfter(minutes(30), rounds=2)"
IN_DOUBT = "has no undo; an attempt in doubt must be taken back before another agent takes the step"
OF_ONE_AGENT = "two of its operations are of one agent; a fallback is another agent's"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        *(({"on_timeout": wait}, NEVER) for wait in NO_WAITS),
        ({"on_timeout": Exhausted.FALLBACK}, "a fallback needs its operation: Fallback(charge_elsewhere)"),
        ({"on_timeout": Fallback(charge_there), "undo": None}, f"charge {IN_DOUBT}"),
        ({"on_timeout": [Fallback(charge_there), Fallback(charge_by_post)]}, f"charge_there {IN_DOUBT}"),
        ({"on_timeout": [Fallback(operation(bank, "charge_slowly"), undo=refund)]}, OF_ONE_AGENT),
        ({"on_timeout": [Fallback(charge_there, undo=refund_there)] * 2}, OF_ONE_AGENT),
        ({"on_timeout": [Fallback(each, undo=refund_there) for each in (charge_there, charge_later)]}, OF_ONE_AGENT),
        ({"on_timeout": [Exhausted.ALERT, RetryAfter(minutes(1))]}, "on_timeout goes on after ALERT, which is an end"),
        ({"on_timeout": [Exhausted.UNDO, RetryAfter(minutes(1))]}, "on_timeout goes on after UNDO, which is an end"),
        ({"on_permanent": Exhausted.WAIT}, "on_permanent is ALERT or UNDO, not WAIT"),
        ({"on_permanent": Exhausted.FALLBACK}, "on_permanent is ALERT or UNDO, not FALLBACK"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(settings: dict[str, Any], reason: str) -> None:
    """S7, S13, S17: a wait that is none or never ends, a fallback for what cannot be taken back, what is never reached.

    A service would refuse what was undone under its key, so an agent that had the step does not take it again.
    """
    assert refusal(step(charge, **{"undo": refund} | settings)) == f"workflow 'pay', step 'charge': {reason}"


@pytest.mark.parametrize("asks", [{"on_timeout": Exhausted.UNDO}, {"on_permanent": Exhausted.UNDO}])
@pytest.mark.parametrize("where", ["at", "after"])
def test_an_undo_past_the_point_of_no_return_is_refused(where: str, asks: Mapping[str, Any]) -> None:
    """S17: it could never be done."""
    steps = [step(charge, point_of_no_return=True), step(ship)]
    position = 0 if where == "at" else 1
    steps[position] = step([charge, ship][position], point_of_no_return=not position, **asks)

    reason = f"step '{steps[position].name}': asks for UNDO past the point of no return, 'charge'"
    assert refusal(*steps).endswith(reason)


def test_an_undo_before_the_point_of_no_return_is_taken() -> None:
    """S17."""
    steps = [step(charge, undo=refund, on_timeout=Exhausted.UNDO), step(ship, point_of_no_return=True)]
    assert Workflow("pay", 1, steps).plan().steps[1].point_of_no_return


def test_a_workflows_on_failure_is_the_end_of_every_step_that_names_none() -> None:
    """W1: and past a point of no return, where nothing is undone, it is an alert."""
    steps = [
        Step(charge, on_timeout=RetryAfter(minutes(5)), complete_within=minutes(1)),
        Step(ship, on_permanent=Exhausted.ALERT, complete_within=minutes(1)),
        Step(charge_by_post, point_of_no_return=True, complete_within=minutes(1)),
    ]
    plan = Workflow("w", 1, steps, on_failure=Exhausted.UNDO).plan()
    assert [step.exhausted[-1].kind for step in plan.steps] == [Exhausted.UNDO, Exhausted.UNDO, Exhausted.ALERT]
    assert [step.on_permanent for step in plan.steps] == [Exhausted.UNDO, Exhausted.ALERT, Exhausted.ALERT]
    assert plan.steps[0].exhausted[0].kind is Exhausted.WAIT
