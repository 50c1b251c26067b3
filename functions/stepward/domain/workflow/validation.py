"""The rules that a workflow definition must keep, checked when it is imported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise

from stepward.domain.arguments import a_name_such_as
from stepward.domain.errors import WorkflowError
from stepward.domain.key import LONGEST_KEY, LONGEST_TYPE, SUBMITTED
from stepward.domain.timing import DAY_MS, LONGEST_ORDER_MS
from stepward.domain.workflow.children import check_child, check_each
from stepward.domain.workflow.effects import MOST_INLINE
from stepward.domain.workflow.plan import ENDS, UNDO_SUFFIX, Exhausted, Plan, PlannedStep, StepKind
from stepward.domain.workflow.waits import check_wait

MAX_STEPS = 50
MAX_WORKFLOWS = 20
MAX_THRESHOLD = 100
LONGEST_ATTEMPT_MS = 12 * 3600 * 1000
SHORTEST_ATTEMPT_MS = 1000
LONGEST_ANSWER_MS = 366 * DAY_MS
LONGEST_WAIT_MS = 30 * 24 * 3600 * 1000
LONGEST_EFFECT = 255 - LONGEST_KEY - len("/")
_STEP_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TYPE = re.compile(
    rf"{re.escape(SUBMITTED)}|(?!(?:order|step|task|child|convoy)\.)[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+"
)


def check_workflows(where: str, names: Sequence[str], *, has_default: bool) -> None:
    """Refuse an application whose workflows cannot be told apart, or whose default is not one of them."""
    if not 1 <= len(names) <= MAX_WORKFLOWS:
        raise WorkflowError(f"{where}: {len(names)} workflows; an app has 1 to {MAX_WORKFLOWS}: workflows=[fulfilment]")
    check_unambiguous(where, "workflows", names)
    if not has_default:
        default = names[0].replace("-", "_")
        raise WorkflowError(f"{where}: a message may name no workflow; say which one it means: default={default}")


def check_types(where: str, types: Mapping[str, Sequence[str]]) -> None:
    """Refuse workflows of which one message could mean two; `types` is what their message classes declare, by name."""
    for name, declared in types.items():
        if len(declared) != 1 or len(said := str(declared[0])) > LONGEST_TYPE or not _TYPE.fullmatch(said):
            said = " or ".join(map(repr, declared))
            raise WorkflowError(
                f"{where}, workflow {name!r}: its message class declares the type {said}; a type is one text such as "
                f"'return.submitted', of up to {LONGEST_TYPE} lower-case letters, digits, '_', '-' and '.', and does "
                "not begin as the engine's own do (order, step, task, child, convoy)"
            )
    for one, other in combinations(types, 2):
        if types[one] == types[other]:
            raise WorkflowError(
                f"{where}: messages of type {types[one][0]!r} are for workflow {one!r} and for {other!r}; declare "
                'another type in the message class of one of them, type: Literal["return.submitted"]'
            )


def check_check(step: str, check: str, agents: Collection[str]) -> None:
    """Refuse a check whose agent is not that of the step's operation and of its undo: they share one service."""
    if len(agents) > 1:
        named = ", ".join(sorted(agents))
        raise WorkflowError(f"step {step!r}: check {check!r} is of another agent ({named}); one agent has all three")


def check_unambiguous(where: str, what: str, names: Iterable[str]) -> None:
    """Refuse a workflow or an application in which one of `names` stands for two different things."""
    for name, times in Counter(names).items():
        if times > 1:
            raise WorkflowError(f"{where}: {times} different {what} are named {name!r}; rename one")


def check_workflow(plan: Plan, *, per_customer: bool = False) -> None:
    """Refuse a plan that cannot work, with a message that names the fault."""
    where = f"workflow {plan.workflow!r}"
    _check_name(where, plan.workflow)
    if plan.version < 1:
        raise WorkflowError(f"{where}: version {plan.version} is below 1; write version=1, and raise it with the steps")
    if not 1 <= len(plan.with_parts) <= MAX_STEPS:
        raise WorkflowError(f"{where}: {len(plan.with_parts)} steps; a workflow has 1 to {MAX_STEPS}")
    for name, times in Counter(step.name for step in plan.with_parts).items():
        if times > 1:
            raise WorkflowError(
                f'{where}, step {name!r}: {times} steps have this name; give each its own, such as name="{name}-2"'
            )
    for step in plan.steps:
        _check_step(f"{where}, step {step.name!r}", step, plan)
        if per_customer:
            _check_idempotency_keys(f"{where}, step {step.name!r}", step)
    _check_limit_of_orders(where, plan)
    _check_order(where, plan)


def check_draining(workflow: str, draining: Iterable[PlannedStep], begun: Collection[tuple[str, str]]) -> None:
    """Refuse a draining step without a limit, or one whose operations, as (agent, name), new orders ask for as well."""
    for step in draining:
        where = f"workflow {workflow!r}, draining step {step.name!r}"
        _check_limit(where, step)
        if all(operation in begun for each in step.executors for operation in each.operations):
            raise WorkflowError(f"{where}: new orders ask for all of its operations; take it out of draining")


def _check_limit(where: str, step: PlannedStep) -> None:
    if not step.complete_within:
        raise WorkflowError(
            f"{where}: has no complete_within; say how long one attempt may take: complete_within=minutes(1)"
        )
    if not SHORTEST_ATTEMPT_MS <= step.complete_within <= LONGEST_ATTEMPT_MS:
        raise WorkflowError(
            f"{where}: complete_within {step.complete_within / 1000:,g} s is outside 1 s to 12 h; an operation whose "
            "work takes longer returns Later(), and its step has answer_within="
        )


def _check_name(where: str, name: str) -> None:
    if not _STEP_NAME.fullmatch(name):
        such_as = a_name_such_as(name, 40, "_")
        raise WorkflowError(f"{where}: a name is 1-40 lower-case letters, digits, '_' or '-', a letter first{such_as}")


def _check_step(where: str, step: PlannedStep, plan: Plan) -> None:
    _check_name(where, step.name)
    _check_kind(where, step, plan)
    _check_ends(where, step)
    for wanted in step.after:
        if wanted not in {other.name for other in plan.steps}:
            raise WorkflowError(
                f"{where}: waits for {wanted!r}, which is not a step of this workflow; its after= may have "
                f"{', '.join(other.name for other in plan.steps if other is not step) or 'none'}"
            )


def _check_kind(where: str, step: PlannedStep, plan: Plan) -> None:
    if step.kind is StepKind.CALL:
        _check_call(where, step)
    elif step.child is not None:
        check_child(where, step)
        for each in step.child.steps:
            _check_idempotency_keys(f"{where}, its step {each.name!r}", each)
    elif step.kind is StepKind.EACH:
        check_each(where, step)
        for part, name in zip(step.parts, step.of_item(MOST_INLINE - 1), strict=True):
            _check_step(f"{where}, its step {part.name!r}", part, plan)
            _check_idempotency_keys(f"{where}, its step {part.name!r}", replace(part, name=name))
    else:
        check_wait(where, step)


def _check_limit_of_orders(where: str, plan: Plan) -> None:
    limit = plan.complete_within
    if limit is not None and not SHORTEST_ATTEMPT_MS <= limit <= LONGEST_ORDER_MS:
        raise WorkflowError(f"{where}: complete_within {limit} ms is outside 1 s to {LONGEST_ORDER_MS // DAY_MS} days")
    if plan.on_timeout not in {Exhausted.ALERT, Exhausted.UNDO}:
        raise WorkflowError(f"{where}: on_timeout is ALERT or UNDO, not {plan.on_timeout.name}")


def _check_call(where: str, step: PlannedStep) -> None:
    _check_limit(where, step)
    if step.answer_within and not SHORTEST_ATTEMPT_MS <= step.answer_within <= LONGEST_ANSWER_MS:
        raise WorkflowError(f"{where}: answer_within {step.answer_within} ms is outside 1 s to 366 days")
    if not 1 <= step.threshold <= MAX_THRESHOLD:
        raise WorkflowError(f"{where}: threshold {step.threshold} is outside 1-{MAX_THRESHOLD}")
    _check_policies(where, step)
    _check_executors(where, step)


def _check_ends(where: str, step: PlannedStep) -> None:
    if step.on_permanent not in {Exhausted.ALERT, Exhausted.UNDO}:
        raise WorkflowError(f"{where}: on_permanent is ALERT or UNDO, not {step.on_permanent.name}")
    for policy in step.exhausted[:-1]:
        if policy.kind in ENDS:
            raise WorkflowError(f"{where}: on_timeout goes on after {policy.kind.name}, which is an end")


def _check_policies(where: str, step: PlannedStep) -> None:
    for policy in step.exhausted:
        if policy.kind in {Exhausted.REMIND, Exhausted.DEFAULT}:
            raise WorkflowError(f"{where}: {policy.kind.name} is a signal's; an operation takes RetryAfter or Fallback")
        if policy.kind is Exhausted.WAIT and not (0 < policy.wait <= LONGEST_WAIT_MS and 0 < policy.rounds <= 100):
            raise WorkflowError(f"{where}: a wait is up to 30 days, 1 to 100 times: RetryAfter(minutes(30), rounds=2)")
        if policy.kind is Exhausted.FALLBACK and not policy.operation:
            raise WorkflowError(f"{where}: a fallback needs its operation: Fallback(charge_elsewhere)")


def _check_executors(where: str, step: PlannedStep) -> None:
    for executor in step.executors[:-1]:
        if not executor.undo:
            raise WorkflowError(
                f"{where}: {executor.operation} has no undo; an attempt in doubt must be taken back before another "
                "agent takes the step"
            )
    for executor in step.executors:
        if (executor.agent, executor.operation) == (executor.undo_agent, executor.undo):
            raise WorkflowError(
                f"{where}: {executor.operation!r} is the operation and its undo; name one that reverses it, or leave "
                "undo= out"
            )
    agents = [step.agent, *(policy.agent for policy in step.exhausted if policy.kind is Exhausted.FALLBACK)]
    if len(set(agents)) < len(agents):
        raise WorkflowError(f"{where}: two of its operations are of one agent; a fallback is another agent's")


def _check_idempotency_keys(where: str, step: PlannedStep) -> None:
    """Services cut an idempotency key at 255 characters, and the longest task key takes most of them."""
    longest = max((executor.effect + UNDO_SUFFIX for executor in step.executors), key=len)
    if len(longest) > LONGEST_EFFECT:
        raise WorkflowError(
            f"{where}: {longest!r} is {len(longest)} characters; a workflow that tells customers apart leaves "
            f"{LONGEST_EFFECT} of an idempotency key, and so does a child's or an item's. Give the step or its "
            "fallback's agent a shorter name"
        )


def _check_order(where: str, plan: Plan) -> None:
    try:
        TopologicalSorter({step.name: step.after for step in plan.steps}).prepare()
    except CycleError as error:
        circle, written = error.args[1], [step.name for step in plan.steps]
        step = next(after for before, after in pairwise(circle) if written.index(before) >= written.index(after))
        said = " -> ".join(circle)
        raise WorkflowError(
            f"{where}, step {step!r}: waits for itself in a circle: {said}; take the later step out of its after="
        ) from error
    _check_point_of_no_return(where, plan)


def _check_point_of_no_return(where: str, plan: Plan) -> None:
    for step in (step for step in plan.steps if step.point_of_no_return):
        for name in {step.name, *plan.dependents[step.name]}:
            both = (plan.by_name[name], *plan.by_name[name].parts)
            policies = {policy.kind for each in both for policy in each.exhausted} | {
                each.on_permanent for each in both
            }
            if Exhausted.UNDO in policies:
                raise WorkflowError(f"{where}, step {name!r}: asks for UNDO past the point of no return, {step.name!r}")
