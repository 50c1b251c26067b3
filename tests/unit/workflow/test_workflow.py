import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from stepward.domain.errors import WorkflowError
from stepward.domain.timing import minutes, seconds
from stepward.domain.workflow.agents import Agent, Call, Operation
from stepward.domain.workflow.definition import Step, Workflow
from stepward.domain.workflow.plan import Exhausted, Plan
from tests.factories import ALERTS, HOUR, MINUTE, UNDOES, falls_back, planned, waits

warehouse = Agent("warehouse")
bank = Agent("bank")


@warehouse.operation
def reserve(call: Call) -> Mapping[str, Any]:
    return {"for": call.idempotency_key}


def nothing(_: Call) -> Mapping[str, Any]:
    return {}


release, charge = Operation(warehouse, "release", nothing), Operation(bank, "charge", nothing)
ship = Operation(warehouse, "ship", nothing)


def refund(_: Call) -> Mapping[str, Any]:
    return {}


OTHER_BANK, OTHER_CHARGE = Agent("bank", max_concurrency=20).operation(refund), replace(charge, run=refund)
OUT, NO_STEP = "take the later step out of its after=", "which is not a step of this workflow"
NO_LIMIT = "has no complete_within; say how long one attempt may take: complete_within=minutes(1)"


def step(operation: Operation, **settings: Any) -> Step:
    return Step(operation, **{"complete_within": minutes(1)} | settings)


def refusal(*steps: Step, name: str = "fulfilment", version: int = 1) -> str:
    with pytest.raises(WorkflowError) as caught:
        Workflow(name, version, steps)
    return str(caught.value)


@pytest.mark.parametrize(
    ("steps", "planned"),
    [
        (
            [step(reserve), step(charge), step(ship)],
            ["reserve: reserve", "charge: charge after reserve", "ship: ship after charge"],
        ),
        (
            [step(reserve), step(charge, after=[]), step(ship, after=[reserve, "charge"])],
            ["reserve: reserve", "charge: charge", "ship: ship after reserve, charge"],
        ),
        ([step(ship, after=[charge]), step(charge, after=[])], ["ship: ship after charge", "charge: charge"]),
        ([step(charge, name="deposit"), step(charge, name="rest")], ["deposit: charge", "rest: charge after deposit"]),
    ],
    ids=["as they are written", "a graph", "for a step that is written later", "two steps of one operation"],
)
def test_a_step_waits_for_the_one_before_it_or_for_those_it_names(steps: list[Step], planned: list[str]) -> None:
    """S1, S2: independent steps may run side by side; an operation or a name says what is waited for."""
    plan = Workflow("fulfilment", 1, steps).plan()
    after = {each.name: f" after {', '.join(each.after)}" if each.after else "" for each in plan.steps}
    assert [f"{each.name}: {each.operation}{after[each.name]}" for each in plan.steps] == planned


def test_a_plan_says_all_that_a_step_needs() -> None:
    """S2, S17: who does it, who undoes it, how long an attempt may take, and how often."""
    workflow = Workflow("fulfilment", 1, [step(reserve, undo=release, complete_within=seconds(90), threshold=5)])
    plain = planned("reserve", complete_within=90_000, threshold=5)
    assert workflow.plan().steps == (replace(plain, agent="warehouse", undo_agent="warehouse", undo="release"),)


def test_a_deployment_may_shorten_every_step() -> None:
    plan = Workflow("fulfilment", 1, [step(reserve), step(ship)]).plan(complete_within=timedelta(seconds=2))
    assert [each.complete_within for each in plan.steps] == [2_000, 2_000]


@pytest.mark.parametrize("limit", [timedelta(seconds=1), timedelta(hours=12)])
def test_the_shortest_and_the_longest_complete_within_are_taken(limit: timedelta) -> None:
    assert Workflow("fulfilment", 1, [step(reserve, complete_within=limit)]).plan().steps[0].complete_within > 0


def test_steps_that_wait_for_each_other_are_refused() -> None:
    reason = refusal(step(reserve, after=["ship"]), step(charge), step(ship))

    assert reason.startswith("workflow 'fulfilment', step 'reserve': waits for itself in a circle: ")
    circle = reason.rpartition(": ")[2].partition(";")[0].split(" -> ")
    assert circle[0] == circle[-1]
    assert {"-".join(sorted(pair)) for pair in pairwise(circle)} == {"charge-reserve", "charge-ship", "reserve-ship"}


def test_fifty_steps_are_taken() -> None:
    steps = [step(charge, name=f"charge-{number}") for number in range(50)]
    assert len(Workflow("fulfilment", 1, steps).plan().steps) == 50


@pytest.mark.parametrize("name", ["Reserve", "1st", "", "über", "a b", "a/b", "a" * 41, "a\n"])
def test_a_name_that_cannot_be_part_of_a_key_is_refused(name: str) -> None:
    """A step's name is part of the idempotency key, so it holds only what every service can take."""
    assert f"workflow {name!r}: a name is 1-40 lower-case letters" in refusal(step(reserve), name=name)
    if name:
        assert f"step {name!r}: a name is 1-40 lower-case letters" in refusal(step(reserve, name=name))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([Step(reserve)], f", step 'reserve': {NO_LIMIT}"),
        *(([step(reserve, threshold=n)], f", step 'reserve': threshold {n} is outside 1-100") for n in (0, -1, 101)),
        (
            [step(reserve, after=[reserve])],
            f", step 'reserve': waits for itself in a circle: reserve -> reserve; {OUT}",
        ),
        ([step(ship, after=["chrage"])], f", step 'ship': waits for 'chrage', {NO_STEP}; its after= may have none"),
        (
            [step(charge)] * 2,
            ", step 'charge': 2 steps have this name; give each its own, such as name=\"charge-2\"",
        ),
        ([], ": 0 steps; a workflow has 1 to 50"),
        ([step(charge, name=f"charge-{n}") for n in range(51)], ": 51 steps; a workflow has 1 to 50"),
        ([step(charge), step(OTHER_BANK)], ": 2 different agents are named 'bank'; rename one"),
        ([step(charge), step(OTHER_CHARGE, name="c2")], ": 2 different operations are named 'bank.charge'; rename one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_workflow_cannot_be_is_refused_with_the_step_and_the_reason(steps: list[Step], reason: str) -> None:
    """S2: every step has an upper limit. S12: a threshold of no attempt would never let a step run.

    Two agents of one name would share a queue, and a request of two operations would not say which is meant.
    """
    assert refusal(*steps) == f"workflow 'fulfilment'{reason}"


@pytest.mark.parametrize("limit", [timedelta(milliseconds=999), timedelta(hours=12, milliseconds=1), minutes(-1)])
def test_a_complete_within_that_no_attempt_could_meet_is_refused(limit: timedelta) -> None:
    reason = refusal(step(reserve, complete_within=limit))
    assert reason.startswith("workflow 'fulfilment', step 'reserve': complete_within")
    assert "is outside 1 s to 12 h" in reason


def test_a_version_below_one_is_refused() -> None:
    assert refusal(step(reserve), version=0).startswith("workflow 'fulfilment': version 0 is below 1")


@pytest.mark.parametrize("name", ["Bank", "bank_1", "", "1bank", "b" * 31, "bank\n"])
def test_an_agent_whose_name_cannot_name_a_queue_is_refused(name: str) -> None:
    with pytest.raises(WorkflowError, match=r"a name is 1-30 lower-case letters, digits or '-', a letter first"):
        Agent(name)


@pytest.mark.parametrize("concurrency", [1, 0, 1001])
def test_a_concurrency_that_sqs_would_not_take_is_refused(concurrency: int) -> None:
    with pytest.raises(WorkflowError, match=rf"agent 'bank': max_concurrency {concurrency} is outside 2-1000"):
        Agent("bank", max_concurrency=concurrency)


@pytest.mark.parametrize("rate", [-1, 0.001, 10_001, float("nan"), float("inf"), True, "50", None])
def test_a_rate_is_a_number_of_calls_a_second(rate: Any) -> None:
    with pytest.raises(WorkflowError, match=r"agent 'bank': rate .* is outside 0\.01-10,000 calls a second"):
        Agent("bank", rate=rate)


def test_an_agent_finds_its_operations_forward_and_undo() -> None:
    """S5: an agent serves what the workflow asks of it, and nothing else."""
    workflow = Workflow("fulfilment", 1, [step(reserve, undo=release), step(charge)])

    assert workflow.operations("warehouse") == {"reserve": reserve, "release": release}
    assert workflow.operations("bank") == {"charge": charge}
    assert [agent.name for agent in workflow.agents] == ["bank", "warehouse"]


def test_an_operation_is_still_a_function() -> None:
    call = Call({}, {}, "ord-1/reserve", 1, 1, lambda: 1.0)
    assert reserve(call) == {"for": "ord-1/reserve"}
    assert (reserve.agent, reserve.name) == (warehouse, "reserve")


PLAN = Plan("fulfilment", 1, (planned("reserve"), planned("ship", "reserve")))
POLICIES = waits(MINUTE), waits(MINUTE, 2), waits(HOUR), falls_back("post"), falls_back("post", undo="recall")
CHANGES: list[dict[str, Any]] = [
    *({name: "other"} for name in ("name", "agent", "operation", "undo", "undo_agent")),
    *({"exhausted": policies} for policies in [(UNDOES,), *((policy, ALERTS) for policy in POLICIES)]),
    *({"after": ("ship",)}, {"complete_within": 61_000}, {"threshold": 4}),
    *({"on_permanent": Exhausted.UNDO}, {"point_of_no_return": True}),
]


def test_a_plan_is_read_back_as_it_was_written() -> None:
    """The plan is frozen at submission, and read until the task ends."""
    policies = (waits(MINUTE, 2), falls_back("post", undo="recall"), UNDOES)
    full = planned("ship", "reserve", "pay", undo="refund", exhausted=policies, on_permanent=Exhausted.UNDO)
    plan = Plan("fulfilment", 7, (full, planned("bill", "ship", point_of_no_return=True)), HOUR, Exhausted.UNDO)

    assert Plan.from_json(plan.to_json()) == plan
    assert Plan.from_json(plan.to_json()).plan_id == plan.plan_id


@pytest.mark.parametrize(
    "changed",
    [
        replace(PLAN, workflow="other"),
        replace(PLAN, version=2),
        replace(PLAN, steps=PLAN.steps[:1]),
        replace(PLAN, steps=PLAN.steps[::-1]),
        replace(PLAN, complete_within=HOUR),
        replace(PLAN, on_timeout=Exhausted.UNDO),
        *(replace(PLAN, steps=(replace(PLAN.steps[0], **change), PLAN.steps[1])) for change in CHANGES),
    ],
)
def test_any_other_content_gives_a_plan_another_id(changed: Plan) -> None:
    """A deployment never changes the plan of a task in flight."""
    assert changed.plan_id != PLAN.plan_id


def test_a_limit_that_is_not_set_is_not_in_the_text_of_a_plan() -> None:
    """The plan is the gate: an ordinary plan keeps its text, and so its id, whatever a workflow may say since."""
    assert json.loads(PLAN.to_json()).keys() == {"workflow", "version", "steps"}


def test_a_limit_of_the_whole_order_is_frozen_with_the_plan() -> None:
    """S24: a deployment's own limit replaces those of the steps only."""
    workflow = Workflow("line", 1, [step(reserve)], complete_within=minutes(60), on_timeout=Exhausted.UNDO)
    for plan in (workflow.plan(), workflow.plan(minutes(2))):
        assert (plan.complete_within, plan.on_timeout) == (HOUR, Exhausted.UNDO)


LONGEST = timedelta(days=731)
NO_LIMITS = [timedelta(0), -minutes(1), minutes(0.5 / 60), LONGEST + minutes(1)]
LIMITS: list[tuple[dict[str, Any], str]] = [
    *(
        ({"complete_within": no_limit}, r"complete_within -?\d+ ms is outside 1 s to 731 days")
        for no_limit in NO_LIMITS
    ),
    *(
        ({"on_timeout": kind}, f"on_timeout is ALERT or UNDO, not {kind.name}")
        for kind in (Exhausted.WAIT, Exhausted.FALLBACK)
    ),
]


@pytest.mark.parametrize(("settings", "reason"), LIMITS)
def test_a_limit_that_cannot_be_kept_is_refused(settings: dict[str, Any], reason: str) -> None:
    """S24: none at all is no limit of zero; a mistyped one is noticed."""
    assert Workflow("line", 1, [step(reserve)], complete_within=LONGEST)
    with pytest.raises(WorkflowError, match=f"workflow 'line': {reason}"):
        Workflow("line", 1, [step(reserve)], **settings)


def test_the_same_content_gives_the_same_id() -> None:
    steps: Sequence[Step] = [step(reserve), step(charge)]
    assert Workflow("fulfilment", 1, steps).plan().plan_id == Workflow("fulfilment", 1, list(steps)).plan().plan_id


def test_a_draining_step_is_served_and_in_no_new_plan() -> None:
    """D1: its agent goes on for the orders in flight, with the time that they have for it."""
    old = step(charge, undo=Operation(bank, "refund", refund), complete_within=minutes(9))
    workflow, before = (
        Workflow("fulfilment", 2, [step(reserve)], draining=[old]),
        Workflow("fulfilment", 2, [step(reserve)]),
    )

    assert workflow.plan() == before.plan()
    assert [agent.name for agent in workflow.agents] == ["bank", "warehouse"]
    assert (set(workflow.operations("bank")), workflow.services["bank"]) == ({"charge", "refund"}, "bank")
    assert (workflow.drained, before.drained) == ({"bank": ["charge", "refund"]}, {})
    assert [each.complete_within for each in workflow.planned()] == [60_000, 540_000]


def test_an_undo_may_drain_while_its_step_goes_on() -> None:
    """D1."""
    workflow = Workflow(
        "fulfilment", 2, [step(charge)], draining=[step(charge, undo=Operation(bank, "refund", refund))]
    )
    assert workflow.drained == {"bank": ["refund"]}


@pytest.mark.parametrize(
    ("draining", "reason"),
    [
        (step(reserve), "new orders ask for all of its operations; take it out of draining"),
        (Step(charge), NO_LIMIT),
    ],
)
def test_what_cannot_drain_is_refused(draining: Step, reason: str) -> None:
    """D1: and an operation of two runs would not say which one an order in flight means."""
    with pytest.raises(WorkflowError) as caught:
        Workflow("fulfilment", 2, [step(reserve)], draining=[draining])
    assert str(caught.value) == f"workflow 'fulfilment', draining step '{draining.name}': {reason}"
    with pytest.raises(WorkflowError, match=r"2 different operations are named 'bank.charge'"):
        Workflow("fulfilment", 2, [step(charge)], draining=[step(OTHER_CHARGE, name="c2", undo=ship)])
