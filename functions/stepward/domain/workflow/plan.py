"""A workflow as plain data, frozen with each task, so that a new deployment never changes one in flight."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from stepward.domain.errors import NotUnderstood, known
from stepward.domain.workflow.values import Frozen


class StepKind(StrEnum):
    """What a step does: each kind is the module of its name in `stepward.domain.steps`."""

    CALL = "call"
    TIMER = "timer"
    SIGNAL = "signal"
    CHILD = "child"


class Exhausted(StrEnum):
    """What happens to a step whose attempts are used up, or whose wait has passed."""

    ALERT = "alert"
    WAIT = "wait"
    UNDO = "undo"
    FALLBACK = "fallback"
    REMIND = "remind"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Executor:
    """Who does a step, and who undoes it; `effect` gives each executor an idempotency key of its own.

    `check` is the agent's operation that tells whether the effect stands, if its service honours no keys.
    `at_once` is how many requests the agent serves at once, known of those that have or are a fallback; else 0.
    """

    effect: str
    agent: str
    operation: str
    undo_agent: str = ""
    undo: str = ""
    at_once: int = 0
    check: str = ""

    @property
    def operations(self) -> tuple[tuple[str, str], ...]:
        """What it asks for, forward and undo, as (agent, operation)."""
        pairs = ((self.agent, self.operation), (self.undo_agent, self.undo), (self.agent, self.check))
        return tuple(pair for pair in pairs if all(pair))


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do when attempts are used up; a step has a list of policies and applies the next one each time.

    WAIT tries the step again after `wait` milliseconds, `rounds` times; FALLBACK gives it to another agent. REMIND
    alerts an operator and waits as long again; DEFAULT ends a wait with `answer`, a JSON text.
    """

    kind: Exhausted
    wait: int = 0
    rounds: int = 0
    agent: str = ""
    operation: str = ""
    undo_agent: str = ""
    undo: str = ""
    at_once: int = 0
    answer: str = ""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a plan. `complete_within` is in milliseconds, per attempt; of a timer, it is how long it runs.

    A step without an agent is a wait. `when` is the condition of the step, `until` refers to the instant at which a
    timer ends. `answer_within` (milliseconds) is how long a service may take that answers later; 0 if it may not. A
    signal is accepted only `by` one of DOORS, or by either if that is empty. A `child` is a whole plan; `template`
    names the fields of its order, each with its ref.
    """

    name: str
    agent: str
    operation: str
    after: tuple[str, ...]
    complete_within: int
    threshold: int
    exhausted: tuple[Policy, ...] = (Policy(Exhausted.ALERT),)
    on_permanent: Exhausted = Exhausted.ALERT
    undo_agent: str = ""
    undo: str = ""
    point_of_no_return: bool = False
    at_once: int = 0
    check: str = ""
    kind: StepKind = StepKind.CALL
    answer_within: int = 0
    when: Frozen = ()
    until: Frozen = ()
    by: str = ""
    child: Plan | None = None
    template: tuple[tuple[str, Frozen], ...] = ()

    def executor(self, policy: int) -> Executor:
        """Who does the step once `policy` of its policies are applied."""
        for taken in reversed(self.exhausted[:policy]):
            if taken.kind is Exhausted.FALLBACK:
                effect = f"{self.name}/by-{taken.agent}"
                return Executor(effect, taken.agent, taken.operation, taken.undo_agent, taken.undo, taken.at_once)
        return Executor(self.name, self.agent, self.operation, self.undo_agent, self.undo, self.at_once, self.check)

    def next_policy(self, policy: int) -> Policy:
        """The policy that follows the first `policy` ones; the last one repeats."""
        return self.exhausted[min(policy, len(self.exhausted) - 1)]

    def restart(self, policy: int) -> int:
        """How many policies count as applied when an operator resubmits the step: it keeps its executor."""
        fallbacks = [count for count, each in enumerate(self.exhausted[:policy], 1) if each.kind is Exhausted.FALLBACK]
        return max(fallbacks, default=0)

    @property
    def rounds(self) -> int:
        """How many rounds of attempts the policies allow, the first one included."""
        waits = sum(policy.rounds for policy in self.exhausted if policy.kind is Exhausted.WAIT)
        return 1 + waits + sum(policy.kind is Exhausted.FALLBACK for policy in self.exhausted)

    @property
    def executors(self) -> tuple[Executor, ...]:
        """Everyone who may do the step."""
        return self.executors_from(0)

    def executors_from(self, policy: int) -> tuple[Executor, ...]:
        """Who does the step once `policy` of its policies are applied, then everyone who may follow."""
        return tuple(dict.fromkeys(self.executor(max(policy, taken)) for taken in range(len(self.exhausted) + 1)))


UNDO_SUFFIX = "/undo"
ALERT, UNDO = Exhausted.ALERT, Exhausted.UNDO
ENDS = frozenset({Exhausted.ALERT, Exhausted.UNDO, Exhausted.DEFAULT})
"""The policies after which no other follows."""


@dataclass(frozen=True)
class Plan:
    """All steps of a task, in the order in which they were written.

    `complete_within` (milliseconds, None for no limit) is how long an order may take; `on_timeout` is ALERT or UNDO.
    `is_child` keeps code that knows no children off their tasks.
    """

    workflow: str
    version: int
    steps: tuple[PlannedStep, ...]
    complete_within: int | None = None
    on_timeout: Exhausted = Exhausted.ALERT
    is_child: bool = False

    @cached_property
    def by_name(self) -> Mapping[str, PlannedStep]:
        """The steps by their names, and the compensations that undo them, by theirs."""
        forward = {step.name: step for step in self.steps}
        return forward | {undoing.name: undoing for step in self.steps for undoing in _compensations(step)}

    @cached_property
    def dependents(self) -> Mapping[str, frozenset[str]]:
        """For each step, all steps that wait for it, directly or through others."""
        found: dict[str, frozenset[str]] = {step.name: frozenset() for step in self.steps}
        for _ in self.steps:
            for step in self.steps:
                for wanted in step.after:
                    found[wanted] = found.get(wanted, frozenset()) | {step.name} | found[step.name]
        return found

    @cached_property
    def plan_id(self) -> str:
        """The name of the record that holds this plan: a hash of its content."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Every agent that the plan asks for work, forward or undo, sorted."""
        executors = [executor for step in self.steps for executor in step.executors]
        named = {executor.agent for executor in executors} | {executor.undo_agent for executor in executors}
        return tuple(sorted(named - {""}))

    def operations(self, *, done: bool = False) -> Iterator[tuple[str, str]]:
        """All that it asks for, as (agent, operation), with its children; of one that is done, all that undoes it."""
        for step in self.steps:
            for executor in step.executors:
                yield from executor.operations[done:]
            if step.child is not None:
                yield from step.child.operations(done=done)

    def to_json(self) -> str:
        """The canonical text of the plan.

        It leaves out defaults, so a plan that does not use a newer field has the text and hash that it always had. So
        no default may ever change.
        """
        plain = _plain(self) | {"steps": list(map(_plain, self.steps))}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Plan:
        """The plan that `to_json` wrote; raises NotUnderstood for a field or a kind that only newer code knows.

        To pass over one could run a wait as a call.
        """
        found = _known(Plan, json.loads(text))
        found["steps"] = tuple(map(_planned, found["steps"]))
        if "on_timeout" in found:
            found["on_timeout"] = known(Exhausted, found["on_timeout"], "a policy")
        return Plan(**found)


def forward_name(compensation: str) -> str:
    """The step that a compensation undoes."""
    return compensation.split("/", maxsplit=1)[0]


def _compensations(step: PlannedStep) -> tuple[PlannedStep, ...]:
    if step.child is not None:
        return (
            replace(
                step,
                name=step.name + UNDO_SUFFIX,
                after=(),
                exhausted=(Policy(Exhausted.ALERT),),
                on_permanent=Exhausted.ALERT,
                when=(),
                template=(),
            ),
        )
    return tuple(
        PlannedStep(
            name=executor.effect + UNDO_SUFFIX,
            agent=executor.undo_agent,
            operation=executor.undo,
            after=(),
            complete_within=step.complete_within,
            threshold=step.threshold,
            check=executor.check,
        )
        for executor in step.executors
        if executor.undo
    )


def _plain(part: Plan | PlannedStep | Policy) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    plain = {each.name: values[each.name] for each in fields(part) if values[each.name] != each.default}
    if "child" in plain:
        plain["child"] = json.loads(plain["child"].to_json())
    return plain | ({"exhausted": list(map(_plain, plain["exhausted"]))} if "exhausted" in plain else {})


def _planned(raw: Any) -> PlannedStep:
    found = _known(PlannedStep, raw)
    found["after"] = tuple(found["after"])
    if "exhausted" in found:
        found["exhausted"] = tuple(map(_policy, found["exhausted"]))
    enums: dict[str, tuple[type[StrEnum], str]] = {
        "on_permanent": (Exhausted, "a policy"),
        "kind": (StepKind, "a step"),
    }
    found |= {name: known(of, found[name], what) for name, (of, what) in enums.items() if name in found}
    if "when" in found:
        from stepward.domain.workflow.conditions import read_condition  # most plans have none

        found["when"] = read_condition(found["when"])
    if "until" in found or "child" in found:
        from stepward.domain.workflow.refs import read_ref

        if "until" in found:
            found["until"] = read_ref(found["until"])
        if "child" in found:
            found["child"] = Plan.from_json(json.dumps(found["child"]))
        found["template"] = tuple((name, read_ref(ref)) for name, ref in found.get("template", ()))
    return PlannedStep(**found)


def _policy(raw: Any) -> Policy:
    found = _known(Policy, raw)
    return Policy(**{**found, "kind": known(Exhausted, found["kind"], "a policy")})


def _known(part: type[Plan | PlannedStep | Policy], raw: Any) -> dict[str, Any]:
    """A copy of `raw`, if each of its fields is one of `part`; raises NotUnderstood."""
    found: dict[str, Any] = {**raw}
    if newer := sorted(found.keys() - {each.name for each in fields(part)}):
        raise NotUnderstood(f"a {part.__name__} with {', '.join(newer)}")
    return found
