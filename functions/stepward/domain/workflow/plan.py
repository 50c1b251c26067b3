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
from stepward.domain.workflow.effects import Executor, Item, Named
from stepward.domain.workflow.values import Frozen


class StepKind(StrEnum):
    """What a step does: each kind is the module of its name in `stepward.domain.steps`."""

    CALL = "call"
    TIMER = "timer"
    SIGNAL = "signal"
    CHILD = "child"
    EACH = "each"


class Exhausted(StrEnum):
    """What happens to a step whose attempts are used up, or whose wait has passed."""

    ALERT = "alert"
    WAIT = "wait"
    UNDO = "undo"
    FALLBACK = "fallback"
    REMIND = "remind"
    DEFAULT = "default"


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
    names the fields of its order, each with its ref. An each does its `parts`, one after another, for each of `items`,
    a ref to a list, and for `at_once` of them at a time.
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
    items: Frozen = ()
    parts: tuple[PlannedStep, ...] = ()

    def of_item(self, at: int) -> tuple[str, ...]:
        """The names of the steps that do one item of an each, in their order."""
        return tuple(str(Item(self.name, at, part.name if len(self.parts) > 1 else "")) for part in self.parts)

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
        named = {step.name: step for each in self.steps for step in (each, *_compensations(each))}
        return Named(named, self._of_item) if any(step.parts for step in self.steps) else named

    def _of_item(self, name: str) -> Iterator[tuple[str, PlannedStep]]:
        """The steps of an item, by its record's name, and what undoes them; the first one waits as its each does."""
        item = Item.read(name)
        for each in self.steps if item.at >= 0 else ():
            names = each.of_item(item.at) if each.name == item.step else ()
            for part, own, after in zip(each.parts, names, (each.after, *((name,) for name in names)), strict=False):
                step = replace(part, name=own, after=after)
                yield from ((made.name, made) for made in (step, *_compensations(step)))

    @cached_property
    def with_parts(self) -> tuple[PlannedStep, ...]:
        """Every step, each followed by the steps that do its items."""
        return tuple(each for step in self.steps for each in (step, *step.parts))

    @cached_property
    def dependents(self) -> Mapping[str, frozenset[str]]:
        """For each step, all steps that wait for it, directly or through others."""
        found: dict[str, frozenset[str]] = {step.name: frozenset() for step in self.steps}
        for _ in self.steps:
            for step in self.steps:
                for wanted in step.after:
                    found[wanted] = found.get(wanted, frozenset()) | {step.name} | found[step.name]
        return found

    def follows(self, name: str, earlier: str) -> bool:
        """Whether a step waits for an earlier one, directly or through others, or does the same item after it."""
        one, other = Item.read(name), Item.read(earlier)
        if one.part and (one.step, one.at) == (other.step, other.at):
            parts = [part.name for part in self.by_name[one.step].parts]
            return parts.index(one.part) > parts.index(other.part)
        return one.step in self.dependents[other.step]

    def undone_after(self, name: str, later: str) -> bool:
        """Whether the undo of a step waits for that of a later one; an each undoes as few items at once as it does."""
        one, other = Item.read(name), Item.read(later)
        beyond = one.step == other.step and 0 <= one.at <= other.at - self.by_name[one.step].at_once
        return beyond or self.follows(later, name)

    @cached_property
    def plan_id(self) -> str:
        """The name of the record that holds this plan: a hash of its content."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Every agent that the plan asks for work, forward or undo, sorted."""
        executors = [each for step in self.with_parts for each in step.executors]
        named = {agent for each in executors for agent in (each.agent, each.undo_agent)}
        return tuple(sorted(named - {""}))

    def operations(self, *, done: bool = False) -> Iterator[tuple[str, str]]:
        """All that it asks for, as (agent, operation), with its children; of one that is done, all that undoes it."""
        for step in self.with_parts:
            for executor in step.executors:
                yield from executor.operations[done:] if executor.undo or not done else ()
            if step.child is not None:
                yield from step.child.operations(done=done)

    def to_json(self) -> str:
        """The canonical text of the plan.

        It leaves out defaults, so a plan that does not use a newer field has the text and hash that it always had. So
        no default may ever change.
        """
        return json.dumps(_plain(self), sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Plan:
        """The plan that `to_json` wrote; raises NotUnderstood for a field or a kind that only newer code knows.

        To pass over one could run a wait as a call.
        """
        found = _known(Plan, json.loads(text))
        found["steps"] = tuple(map(_planned, found["steps"]))
        found["on_timeout"] = known(Exhausted, found.get("on_timeout", Exhausted.ALERT), "a policy")
        return Plan(**found)


def forward_name(compensation: str) -> str:
    """The step that a compensation undoes."""
    return compensation.split("/", maxsplit=1)[0]


def _compensations(step: PlannedStep) -> tuple[PlannedStep, ...]:
    if step.child is not None or step.parts:
        undoing = PlannedStep(step.name + UNDO_SUFFIX, "", "", (), step.complete_within, step.threshold, kind=step.kind)
        return (replace(undoing, at_once=step.at_once, child=step.child, parts=step.parts),)
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
    return plain | {name: list(map(_plain, plain[name])) for name in ("exhausted", "parts", "steps") if name in plain}


def _planned(raw: Any) -> PlannedStep:
    found = _known(PlannedStep, raw)
    found["after"] = tuple(found["after"])
    found["parts"] = tuple(map(_planned, found.get("parts", ())))
    if "exhausted" in found:
        found["exhausted"] = tuple(map(_policy, found["exhausted"]))
    for name, of, what in (("on_permanent", Exhausted, "a policy"), ("kind", StepKind, "a step")):
        if name in found:
            found[name] = known(of, found[name], what)
    if "when" in found:
        from stepward.domain.workflow.conditions import read_condition  # most plans have none

        found["when"] = read_condition(found["when"])
    if not found.keys().isdisjoint(("until", "child", "items")):
        from stepward.domain.workflow.refs import read_ref

        found |= {name: read_ref(found[name]) for name in ("until", "items") if name in found}
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
