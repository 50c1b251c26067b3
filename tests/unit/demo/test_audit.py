"""The audit of the demonstration passes what is right, and names whatever is not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stepward.domain.plan import Plan, PlannedStep
from stepward.domain.task import ProcessState, StepRecord, Task, new_task
from stepward.domain.timing import Timing
from stepward.local.demo.audit import Evidence, Findings, audit
from stepward.local.demo.scenario import KINDS, Scenario, scenario
from stepward.ports import Reject

SAMPLES = Path(__file__).parents[3] / "events" / "orders"
STEPS = ("reserve", "charge", "ship")
PLAN = Plan("w", 1, tuple(PlannedStep(name, "a", name, (), 1000, 3) for name in STEPS))


def ended(order_id: str, state: ProcessState) -> Task:
    """A task that reached `state`; one in Error did so in its second step."""
    done = StepRecord(order_id, "", ProcessState.PROCESSED)
    steps = {name: replace(done, name=name) for name in STEPS}
    if state is not ProcessState.PROCESSED:
        steps["charge"] = replace(done, name="charge", process_state=state, error="declined")
        steps["ship"] = StepRecord(order_id, "ship")
    return replace(new_task(order_id, PLAN, 0, Timing()), steps=steps, due=None)


def evidence(acts: Scenario) -> Evidence:
    """What stands when everything went as it must."""
    tasks = {order.order_id: ended(order.order_id, order.ends) for order in acts.orders}
    return Evidence(
        tasks=tasks,
        stored=frozenset(tasks),
        rejects=[Reject(str(n), "orders", n, "field", "reason", body) for n, body in enumerate(acts.rejected)],
        alerted=frozenset(order.order_id for order in acts.orders if order.ends is ProcessState.ERROR),
        effects={
            f"{order_id}/{name}": 1
            for order_id, task in tasks.items()
            for name, record in task.steps.items()
            if record.process_state is ProcessState.PROCESSED
        },
    )


ACTS = scenario(12, 3, SAMPLES)
PLAIN = next(order.order_id for order in ACTS.orders if order.kind is KINDS[0])
DECLINED = next(order.order_id for order in ACTS.orders if order.ends is ProcessState.ERROR)


def found(change: Callable[[Evidence], Evidence] = lambda right: right) -> Findings:
    """The audit's findings after a change to what is right."""
    return audit(ACTS, change(evidence(ACTS)))


def test_what_is_right_passes_and_is_counted() -> None:
    """I1, I4."""
    right = found()
    assert right.passed
    assert right.summary == (
        f"demo: 12 orders: 11 Processed, 0 Undone, 1 Error (1 alerted); {len(ACTS.rejected)} rejected, kept; "
        "0 lost, 0 doubled"
    )


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("lost", lambda e: replace(e, tasks={k: t for k, t in e.tasks.items() if k != PLAIN})),
        ("lost", lambda e: replace(e, stored=e.stored - {PLAIN})),
        ("lost", lambda e: replace(e, effects={k: n for k, n in e.effects.items() if k != f"{PLAIN}/ship"})),
        ("lost", lambda e: replace(e, rejects=e.rejects[1:])),
        ("lost", lambda e: replace(e, rejects=[replace(r, field="", reason="") for r in e.rejects])),
        ("doubled", lambda e: replace(e, effects={**e.effects, f"{PLAIN}/charge": 2})),
        ("stuck", lambda e: replace(e, tasks={**e.tasks, PLAIN: ended(PLAIN, ProcessState.PROCESSING)})),
        ("stuck", lambda e: replace(e, tasks={**e.tasks, PLAIN: ended(PLAIN, ProcessState.PENDING)})),
        ("unalerted", lambda e: replace(e, alerted=frozenset())),
        ("wrong", lambda e: replace(e, tasks={**e.tasks, DECLINED: ended(DECLINED, ProcessState.PROCESSED)})),
        ("wrong", lambda e: replace(e, tasks={**e.tasks, PLAIN: ended(PLAIN, ProcessState.ERROR)})),
        ("wrong", lambda e: replace(e, tasks={**e.tasks, "x": ended("x", ProcessState.PROCESSED)})),
        ("wrong", lambda e: replace(e, effects={**e.effects, f"{DECLINED}/ship": 1})),
    ],
)
def test_whatever_is_not_right_is_named(fault: str, change: Callable[[Evidence], Evidence]) -> None:
    """I1, I4: an audit that cannot fail proves nothing."""
    findings = found(change)
    assert not findings.passed
    assert getattr(findings, fault)
    assert any(line.startswith(f"{fault}: ") for line in findings.faults())


def test_undone_orders_are_counted_from_what_the_services_took_back() -> None:
    """S17."""
    assert ", 2 Undone, " in found(lambda e: replace(e, undone=frozenset({"a/charge", "a/reserve", "b/ship"}))).summary
