"""What a user writes: the steps of a workflow, which puts operations in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

from stepward.domain.arguments import check_arguments, check_elements, named
from stepward.domain.timing import milliseconds
from stepward.domain.workflow.agents import Agent, Operation
from stepward.domain.workflow.children import Child, Each, goes_back
from stepward.domain.workflow.plan import ENDS, Exhausted, Plan, PlannedStep, Policy
from stepward.domain.workflow.refs import Condition, as_data
from stepward.domain.workflow.validation import check_check, check_draining, check_unambiguous, check_workflow
from stepward.domain.workflow.waits import Signal, Timer, policies_of


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """A policy: wait for `delay`, at most 30 days, then try again; `rounds` times (1-100) before the next policy."""

    delay: timedelta
    rounds: int = 1

    def __post_init__(self) -> None:
        check_arguments("RetryAfter", self, "delay", "rounds")


@dataclass(frozen=True, slots=True)
class Fallback:
    """A policy: `operation`, of another agent, takes over the step; `undo` undoes that operation."""

    operation: Operation
    undo: Operation | None = None

    def __post_init__(self) -> None:
        check_arguments("Fallback", self, "operation", "undo")


LastResort = Exhausted | RetryAfter | Fallback


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the `operation` that does it, the `undo` that reverses it, and how long an attempt may take.

    An attempt has `complete_within` from its claim, 1 second to 12 hours. `name` is the operation's if it is left out:
    1-40 lower-case letters, digits, '_' or '-', a letter first. Without `after` a step waits for the one written before
    it; `after=[]` lets it start at once, and `after=[reserve, charge]` makes it wait for both. `threshold` is how many
    attempts may run past complete-by before the `on_timeout` policy applies, or the first of several; `on_permanent` is
    the policy for a Permanent error. Both are the workflow's `on_failure` if they are left out. Once a
    `point_of_no_return` has begun, the order only goes forward. A step whose condition `when` does not hold is skipped.
    With `answer_within` the operation may return Later: its service has so long to answer, at most 366 days.

    `check` is for a service that honours no idempotency key: an operation of the same agent that tells whether an
    earlier call had its effect. It is asked before the call is repeated, and before it is undone.
    """

    operation: Operation
    undo: Operation | None = None
    after: Sequence[Operation | str] | None = None
    complete_within: timedelta | None = None
    threshold: int = 3
    on_timeout: LastResort | Sequence[LastResort] = ()
    on_permanent: Exhausted | None = None
    point_of_no_return: bool = False
    name: str = ""
    when: Condition | None = None
    answer_within: timedelta | None = None
    check: Operation | None = None

    def __post_init__(self) -> None:
        check_arguments(f"step {self.name or named(self.operation)!r}", self, *_OF_A_STEP, *_SPANS_AND_LIMITS)
        if not self.name:
            object.__setattr__(self, "name", self.operation.name)
        if self.check:
            own = {each.agent.name for each in (self.operation, self.undo, self.check) if each}
            check_check(self.name, self.check.name, own)

    @property
    def policies(self) -> Sequence[LastResort]:
        """What to do when attempts are used up, one after another; after the last, the workflow's `on_failure`."""
        return policies_of(self.name, self.on_timeout, LastResort, "RetryAfter, Fallback, UNDO or ALERT")

    @property
    def forward(self) -> Sequence[Operation]:
        """The operations that may do the step: its own, and those of its fallbacks."""
        return [self.operation, *(policy.operation for policy in self.policies if isinstance(policy, Fallback))]

    @property
    def operations(self) -> Sequence[Operation]:
        """Every operation that the step may ask for."""
        fallbacks = [policy for policy in self.policies if isinstance(policy, Fallback)]
        both = [(self.operation, self.undo), (self.check, None), *((each.operation, each.undo) for each in fallbacks)]
        return [operation for pair in both for operation in pair if operation]


_OF_A_STEP = ("name", "operation", "undo", "check", "after", "when")
_SPANS_AND_LIMITS = ("complete_within", "answer_within", "threshold", "on_permanent")
AnyStep = Step | Timer | Signal | Child | Each


@dataclass(frozen=True)
class Workflow:
    """The `steps` of one kind of order, checked when the module is imported; raises WorkflowError.

    Raise `version` whenever the steps change: orders in flight keep theirs. `name` is written like a step's.
    `order` is the class of the messages that submit it, a subclass of OrderMessage; without it, OrderMessage itself. In
    an app of several workflows, each message class declares its own type.
    With `per_customer`, order ids are unique only within a customer's, and `customerId` is required wherever an order
    is named.
    `complete_within` limits the whole order, from its submission; a message may name an earlier end for its own order.
    Past that nothing starts any more, and `on_timeout`, which is ALERT or UNDO, applies. `on_failure`, ALERT or UNDO,
    is what a failure of a step leads to that says nothing else; past a point of no return that is ALERT. `draining` are
    steps of earlier versions: no new order has them, and their agents go on serving them for the orders in flight.
    """

    name: str
    version: int
    steps: Sequence[AnyStep]
    order: type[Any] | None = None
    per_customer: bool = False
    complete_within: timedelta | None = None
    on_timeout: Exhausted = Exhausted.ALERT
    on_failure: Exhausted = Exhausted.ALERT
    draining: Sequence[Step] = ()

    def __post_init__(self) -> None:
        where = f"workflow {self.name!r}"
        check_arguments(where, self, "name", "version", "order", "complete_within", "on_timeout", "on_failure")
        for name, listed, kinds in (("steps", self.steps, AnyStep), ("draining", self.draining, Step)):
            check_elements(where, name, listed, kinds, "write Step(reserve, complete_within=minutes(1))")
        check_workflow(plan := self.plan(), per_customer=self.per_customer)
        self._check_refs(plan)
        begun = {(each.agent.name, each.name) for each in self._begun}
        check_draining(self.name, self.planned()[len(plan.with_parts) :], begun)
        asked = set(self._asked())
        check_unambiguous(where, "agents", (agent.name for agent in {each.agent for each in asked}))
        check_unambiguous(where, "operations", (f"{each.agent.name}.{each.name}" for each in asked))

    def plan(self, complete_within: timedelta | None = None) -> Plan:
        """The workflow as plain data, to be frozen with a task.

        `complete_within` replaces every step's own limit: a deployment for tests uses short ones.
        """
        return Plan(
            workflow=self.name,
            version=self.version,
            steps=tuple(self._ended(complete_within)),
            complete_within=None if self.complete_within is None else milliseconds(self.complete_within),
            on_timeout=self.on_timeout,
        )

    @property
    def signals(self) -> Mapping[str, type[Any]]:
        """The class of each signal's data, by the signal's name."""
        return {step.name: step.message for step in self.steps if isinstance(step, Signal)}

    @property
    def agents(self) -> Sequence[Agent]:
        """Every agent with an operation in this workflow, forward or undo, in the order of their names."""
        named = {operation.agent.name: operation.agent for operation in self._asked()}
        return [named[name] for name in sorted(named)]

    @property
    def services(self) -> Mapping[str, str]:
        """The services that need an address, each with an agent that calls it."""
        called = {agent.name: (agent.name,) if agent.services is None else agent.services for agent in self.agents}
        return {service: agent for agent, services in called.items() for service in services}

    def operations(self, agent: str) -> Mapping[str, Operation]:
        """The operations, forward and undo, that this workflow asks of `agent`, by name."""
        return {operation.name: operation for operation in self._asked() if operation.agent.name == agent}

    @property
    def drained(self) -> Mapping[str, Sequence[str]]:
        """The operations, by agent, that no new order asks for."""
        left = set(self._asked()) - self._begun
        return {
            agent.name: found
            for agent in self.agents
            if (found := sorted(operation.name for operation in left if operation.agent == agent))
        }

    def planned(self, complete_within: timedelta | None = None) -> Sequence[PlannedStep]:
        """Every step that the agents serve: those of the plan with those of items, then the draining ones."""
        drained = (_planned(step, (), complete_within) for step in self.draining)
        return (*self.plan(complete_within).with_parts, *(ended(each, Exhausted.ALERT, says=True) for each in drained))

    def _ended(self, complete_within: timedelta | None) -> Iterator[PlannedStep]:
        """The steps of the plan, each with what its failure leads to."""
        planned = [_planned(step, self.steps[:at], complete_within) for at, step in enumerate(self.steps)]
        dependents = Plan(self.name, self.version, tuple(planned)).dependents
        forward = {step.name: {step.name, *dependents[step.name]} for step in planned if step.point_of_no_return}
        for step, each in zip(self.steps, planned, strict=True):
            stuck = any(each.name in names for names in forward.values())
            failure = Exhausted.ALERT if stuck else self.on_failure
            inner = zip(each.parts, getattr(step, "inner", ()), strict=True)
            parts = tuple(ended(part, failure, says=says(own)) for part, own in inner)
            whole = replace(ended(each, failure, says=says(step)), parts=parts)
            yield replace(whole, on_permanent=Exhausted.UNDO) if goes_back(parts) else whole

    def _check_refs(self, plan: Plan) -> None:
        """Refuse refs to what is not there by then; only a workflow that has some loads what that needs."""
        if any(step.when or step.until or step.template or step.items for step in plan.steps):
            from stepward.domain.workflow.ref_checks import check_refs

            every = [each for step in self.steps for each in (step, *getattr(step, "inner", ()))]
            check_refs(plan, self.order, {step.name: _makers(step) for step in every})

    @property
    def _begun(self) -> set[Operation]:
        return {operation for step in self.steps for operation in step.operations}

    def _asked(self) -> list[Operation]:
        return [operation for step in (*self.steps, *self.draining) for operation in step.operations]


def _makers(step: Any) -> Sequence[Callable[..., Any]]:
    """What makes the step's result, as far as its type tells: operations, or the class of a signal's data."""
    if isinstance(step, Child):
        return _makers(step.workflow.steps[-1])
    return [step.message] if isinstance(step, Signal) else [each.run for each in getattr(step, "forward", ())]


def _planned(step: AnyStep, before: Sequence[AnyStep] = (), complete_within: timedelta | None = None) -> PlannedStep:
    after = [before[-1].name] if step.after is None and before else step.after or []
    names = tuple(wanted if isinstance(wanted, str) else wanted.name for wanted in after)
    if isinstance(step, Step):
        return _called(step, names, complete_within)
    if isinstance(step, Each):
        return step.planned(names, tuple(_called(cast("Step", each), (), complete_within) for each in step.inner))
    return step.planned(names, complete_within) if isinstance(step, Child) else step.planned(names)


def _called(step: Step, after: tuple[str, ...], complete_within: timedelta | None) -> PlannedStep:
    limit = complete_within if complete_within and step.complete_within else step.complete_within
    return PlannedStep(
        name=step.name,
        agent=step.operation.agent.name,
        operation=step.operation.name,
        undo_agent=step.undo.agent.name if step.undo else "",
        undo=step.undo.name if step.undo else "",
        after=after,
        complete_within=milliseconds(limit),
        threshold=step.threshold,
        exhausted=tuple(_policy(policy) for policy in step.policies),
        on_permanent=step.on_permanent or Exhausted.ALERT,
        point_of_no_return=step.point_of_no_return,
        at_once=step.operation.agent.max_concurrency if any(isinstance(p, Fallback) for p in step.policies) else 0,
        answer_within=milliseconds(step.answer_within),
        when=as_data(step.when),
        check=step.check.name if step.check else "",
    )


def _policy(policy: LastResort) -> Policy:
    match policy:
        case RetryAfter():
            return Policy(Exhausted.WAIT, wait=milliseconds(policy.delay), rounds=policy.rounds)
        case Fallback():
            undo = policy.undo
            return Policy(
                Exhausted.FALLBACK,
                agent=policy.operation.agent.name,
                operation=policy.operation.name,
                undo_agent=undo.agent.name if undo else "",
                undo=undo.name if undo else "",
                at_once=policy.operation.agent.max_concurrency,
            )
        case Exhausted():
            return Policy(policy)


def says(step: AnyStep) -> bool:
    """Whether the step itself says what a refusal leads to."""
    match step:
        case Step():
            own = step.on_permanent
        case Signal():
            own = step.on_refused
        case Child():
            own = step.on_undone
        case _:
            own = None
    return own is not None


def ended(planned: PlannedStep, failure: Exhausted, *, says: bool) -> PlannedStep:
    """The step with what its failure leads to, where it does not say so itself."""
    ends = bool(planned.exhausted) and planned.exhausted[-1].kind in ENDS
    exhausted = planned.exhausted if ends else (*planned.exhausted, Policy(failure))
    return replace(planned, exhausted=exhausted, on_permanent=planned.on_permanent if says else failure)
