"""The rules a workflow definition must keep, checked when it is imported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from stepward.domain.errors import WorkflowError
from stepward.domain.plan import Exhausted, Plan, PlannedStep

MAX_STEPS = 50
MAX_THRESHOLD = 100
LONGEST_ATTEMPT_MS = 12 * 3600 * 1000
SHORTEST_ATTEMPT_MS = 1000
_STEP_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_AGENT_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")


def check_agent_name(name: str, max_concurrency: int) -> None:
    """Refuse an agent whose name cannot name a queue, or whose concurrency SQS would not take."""
    if not _AGENT_NAME.fullmatch(name):
        raise WorkflowError(f"agent {name!r}: a name is 1-30 lower-case letters, digits or '-', a letter first")
    if not 2 <= max_concurrency <= 1000:
        raise WorkflowError(f"agent {name!r}: max_concurrency {max_concurrency} is outside 2-1000")


def check_unambiguous(workflow: str, what: str, names: Iterable[str]) -> None:
    """Refuse a workflow in which one of `names` stands for two different things."""
    for name, times in Counter(names).items():
        if times > 1:
            raise WorkflowError(f"workflow {workflow!r}: {times} different {what} are named {name!r}; rename one")


def check_workflow(plan: Plan) -> None:
    """Refuse a plan that cannot work, with a message that names the fault."""
    where = f"workflow {plan.workflow!r}"
    if not _STEP_NAME.fullmatch(plan.workflow):
        raise WorkflowError(f"{where}: a name is 1-40 lower-case letters, digits, '_' or '-', a letter first")
    if plan.version < 1:
        raise WorkflowError(f"{where}: version {plan.version} is below 1")
    if not 1 <= len(plan.steps) <= MAX_STEPS:
        raise WorkflowError(f"{where}: {len(plan.steps)} steps; a workflow has 1 to {MAX_STEPS}")
    for name, times in Counter(step.name for step in plan.steps).items():
        if times > 1:
            raise WorkflowError(f"{where}: {times} steps are named {name!r}; give each Step its own name=")
    for step in plan.steps:
        _check_step(f"{where}, step {step.name!r}", step, plan)
    _check_order(where, plan)


def _check_step(where: str, step: PlannedStep, plan: Plan) -> None:
    if not _STEP_NAME.fullmatch(step.name):
        raise WorkflowError(f"{where}: a name is 1-40 lower-case letters, digits, '_' or '-', a letter first")
    if not step.complete_within:
        raise WorkflowError(f"{where}: has no complete_within; say how long one attempt may take")
    if not SHORTEST_ATTEMPT_MS <= step.complete_within <= LONGEST_ATTEMPT_MS:
        raise WorkflowError(f"{where}: complete_within {step.complete_within} ms is outside 1 s to 12 h")
    if not 1 <= step.threshold <= MAX_THRESHOLD:
        raise WorkflowError(f"{where}: threshold {step.threshold} is outside 1-{MAX_THRESHOLD}")
    if step.exhausted is not Exhausted.ALERT:
        raise WorkflowError(f"{where}: exhausted={step.exhausted.name} is not available yet; use Exhausted.ALERT")
    for wanted in step.after:
        if wanted not in plan.by_name:
            raise WorkflowError(f"{where}: waits for {wanted!r}, which is not a step of this workflow")


def _check_order(where: str, plan: Plan) -> None:
    try:
        TopologicalSorter({step.name: step.after for step in plan.steps}).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise WorkflowError(f"{where}: steps wait for each other in a circle: {circle}") from error
