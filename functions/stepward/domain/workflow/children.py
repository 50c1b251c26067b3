"""The steps that are more than one call, as a user writes them; and the rules that they must keep.

A Child is an order of another workflow, an Each does steps of its own for every item of a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, ClassVar, Protocol

from stepward.domain.arguments import check_arguments, named, said
from stepward.domain.errors import WorkflowError
from stepward.domain.timing import DAY_MS, milliseconds
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.domain.workflow.refs import Condition, Ref, as_data, default_of
from stepward.domain.workflow.values import MISSING

ASKS = 4
"""How often a child is asked whether it has ended, before its time is over."""
DEPTH = 3
MOST_AT_ONCE = 1_000
LONGEST_MS = 366 * DAY_MS
MOST_BYTES = 300_000
"""How long a plan is with those of its children, as JSON: it is one row of the state store."""


class Whole(Protocol):
    """A workflow, as far as the step knows it that is an order of it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def steps(self) -> Sequence[Any]: ...  # noqa: D102
    def plan(self, complete_within: timedelta | None = None) -> Plan: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Child:
    """A step that is an order of another `workflow`: its task is its own, and the result is that of its last step.

    `order` makes the child's order: its fields, each with the ref that it is read from; `orderId`, `customerId` and
    `priority` are the parent's unless it names them. `on_timeout` is ALERT or UNDO, if the child has not ended within
    `complete_within`; it goes on. `on_undone` is the same for a child that ends undone. Both are the workflow's
    `on_failure` if they are left out. The undo of the parent undoes the child.
    `complete_within` is 1 minute to 366 days. `name`, `when` and `after` are as a Step's.
    """

    name: str
    workflow: Whole
    order: Mapping[str, Ref] = field(default_factory=dict)
    complete_within: timedelta | None = None
    on_timeout: Exhausted | None = None
    on_undone: Exhausted | None = None
    when: Condition | None = None
    after: Sequence[Any] | None = None
    operations: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        where = f"step {self.name!r}"
        check_arguments(where, self, "name", "workflow", "complete_within", "on_timeout", "on_undone", "after", "when")
        for name, each in self.order.items():
            if not isinstance(each, Ref):
                raise WorkflowError(f'{where}: order[{name!r}] is {said(each)}; write a ref: ref.order("total")')

    def planned(self, after: tuple[str, ...], complete_within: timedelta | None = None) -> PlannedStep:
        """The step as plain data, with the child's whole plan; `complete_within` is for the steps of the child."""
        return PlannedStep(
            name=self.name,
            agent="",
            operation="",
            after=after,
            complete_within=milliseconds(self.complete_within),
            threshold=ASKS,
            exhausted=(Policy(self.on_timeout),) if self.on_timeout else (),
            on_permanent=self.on_undone or Exhausted.ALERT,
            kind=StepKind.CHILD,
            when=as_data(self.when),
            child=replace(self.workflow.plan(complete_within), is_child=True),
            template=tuple((name, ref.frozen) for name, ref in sorted(self.order.items())),
        )


class Inner(Protocol):
    """A step of an item, as far as the Each knows it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def after(self) -> Sequence[Any] | None: ...  # noqa: D102
    @property
    def point_of_no_return(self) -> bool: ...  # noqa: D102
    @property
    def operations(self) -> Sequence[Any]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Each:
    """A step that does `steps`, a Step or several one after another, for each item of a list, `at_once` at a time.

    `items` is a ref to the list. Their operations find the item in `call.item`, and the order without that list; their
    conditions read it as `ref.item("weight")`. The result is `{"items": […]}`: that of each item's last step.
    `at_once` is 1-1,000. `name`, `when` and `after` are as a Step's.
    """

    name: str
    items: Ref
    steps: Inner | Sequence[Inner]
    at_once: int = 10
    when: Condition | None = None
    after: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        where = f"each {self.name!r}"
        check_arguments(where, self, "name", "at_once", "after", "when")
        if not isinstance(self.items, Ref) or default_of(self.items.frozen) is not MISSING:
            such_as = 'ref.order("parcels"), and has no default; an order without the list takes when=….exists()'
            raise WorkflowError(f"{where}: items is a ref to a list, such as {such_as}")
        for step in self.inner:
            if not hasattr(step, "operation"):
                kind = type(step).__name__
                raise WorkflowError(f"{where}: {named(step)!r} is a {kind}; an item has only Steps: Step(ship, ...)")
            if step.after is not None:
                raise WorkflowError(f"{where}: leave out after= of {step.name!r}; an item's steps follow one another")
            if step.point_of_no_return:
                raise WorkflowError(f"{where}: {step.name!r} is a point of no return; make it a step after the each")

    @property
    def inner(self) -> Sequence[Inner]:
        """The steps of an item."""
        return self.steps if isinstance(self.steps, Sequence) else [self.steps]

    @property
    def operations(self) -> Sequence[Any]:
        """Every operation that they may ask for."""
        return [operation for step in self.inner for operation in step.operations]

    def planned(self, after: tuple[str, ...], parts: tuple[PlannedStep, ...]) -> PlannedStep:
        """The step as plain data; `parts` are its own."""
        return PlannedStep(
            name=self.name,
            agent="",
            operation="",
            after=after,
            complete_within=0,
            threshold=1,
            at_once=self.at_once,
            kind=StepKind.EACH,
            when=as_data(self.when),
            items=self.items.frozen,
            parts=parts,
        )


def goes_back(parts: Sequence[PlannedStep]) -> bool:
    """Whether a failure of one may undo the order; of many items, it comes as a child that ends undone."""
    ends = {kind for part in parts for kind in (part.on_permanent, part.exhausted[-1].kind)}
    return Exhausted.UNDO in ends


def check_each(where: str, step: PlannedStep) -> None:
    """Refuse an each that cannot work, with a message that names the fault; its parts are checked as any step is."""
    if not 1 <= step.at_once <= MOST_AT_ONCE:
        raise WorkflowError(f"{where}: at_once {step.at_once} is outside 1-{MOST_AT_ONCE}")
    if not step.parts:
        raise WorkflowError(f"{where}: has no step for its items; give it one, such as Step(ship)")


def check_child(where: str, step: PlannedStep) -> None:
    """Refuse a child that cannot work, with a message that names the fault."""
    if not 60_000 <= step.complete_within <= LONGEST_MS:
        raise WorkflowError(f"{where}: say how long the child has, 1 min to 366 days, such as complete_within=days(1)")
    if step.exhausted[0].kind not in {Exhausted.ALERT, Exhausted.UNDO}:
        raise WorkflowError(f"{where}: on_timeout is ALERT or UNDO, not {step.exhausted[0].kind.name}")
    if (deep := _depth(step)) > DEPTH:
        raise WorkflowError(f"{where}: its children are {deep} deep; an order, its child and a child of that are three")
    if step.child and (size := len(step.child.to_json())) > MOST_BYTES:
        raise WorkflowError(f"{where}: its child's plan is {size:,} bytes; the limit is {MOST_BYTES:,}")


def check_listed(where: str, workflows: Sequence[Whole]) -> None:
    """Refuse an application that does not list the workflow of a child: its agents would serve nobody."""
    for each in workflows:
        for step in each.steps:
            if isinstance(step, Child) and step.workflow not in workflows:
                raise WorkflowError(
                    f"{where}, workflow {each.name!r}, step {step.name!r}: list {step.workflow.name!r} in workflows="
                )


def _depth(step: PlannedStep) -> int:
    return 1 + max((_depth(each) for each in step.child.steps), default=0) if step.child else 1
