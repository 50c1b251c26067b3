"""The step that is an order of another workflow, as a user writes it; and the rules that it must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, ClassVar, Protocol

from stepward.domain.errors import WorkflowError
from stepward.domain.timing import DAY_MS, milliseconds
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.domain.workflow.refs import Condition, Ref, as_data

ASKS = 4
"""How often a child is asked whether it has ended, before its time is over."""
DEPTH = 3
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
    """A step that is an order of another workflow: its task is its own, and the result is that of its last step.

    `order` makes the child's order: its fields, each with the ref that it is read from; `orderId`, `customerId` and
    `priority` are the parent's unless it names them. `on_timeout` is ALERT or UNDO, if the child has not ended within
    `complete_within`; it goes on. `on_undone` is the same for a child that ends undone. Both are the workflow's
    `on_failure` if they are left out. The undo of the parent undoes the child.
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
