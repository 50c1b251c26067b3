"""What a task asks of the kinds of its steps; each kind is a module of `stepward.domain.steps`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from stepward.domain.workflow.plan import StepKind

if TYPE_CHECKING:
    from stepward.domain.coordination.outlook import DeadlineCheck
    from stepward.domain.messages import Message
    from stepward.domain.task.change import TaskChange
    from stepward.domain.task.record import StepRecord
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.plan import PlannedStep


class Kind(Protocol):
    """What the engine asks of a kind of step; each kind is a module with these functions."""

    def deadline(self, change: TaskChange, step: PlannedStep) -> int | None:
        """When the attempt that begins now has to end (epoch ms), None if nothing waits for that; raises Untellable."""

    def begin(self, change: TaskChange, step: PlannedStep, record: StepRecord) -> None:
        """Do what follows a claim; it may end the step at once."""

    def asks(self, change: TaskChange, step: PlannedStep, record: StepRecord) -> list[Message]:
        """What a claim sends, and sends again when its message comes again."""

    def hears(self, change: TaskChange, step: PlannedStep, record: StepRecord, event: Any) -> None:
        """Take what came for the step; raises Rejected if this kind does not take it."""

    def late(self, change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
        """Act on an attempt whose deadline has passed, on behalf of the Supervisor."""

    def unclaimed(self, change: TaskChange, step: PlannedStep, record: StepRecord, check: DeadlineCheck) -> None:
        """Act on a step that is ready, and that nobody has claimed in time, on behalf of the Supervisor."""

    def longest(self, step: PlannedStep, timing: Timing) -> int:
        """Milliseconds that the step takes forward at worst."""


@cache
def kind_of(kind: StepKind) -> Kind:
    """The kind; its module is loaded when the first step of it comes, so a plan of calls costs no other."""
    return cast("Kind", import_module(f"stepward.domain.steps.{kind.value}"))


def go_on(change: TaskChange, each: str, causation_id: str) -> None:
    """Begin the next items of an each, or end it, since one of its items is done; few tasks have any."""
    import_module("stepward.domain.steps.each").go_on(change, change.plan.by_name[each], causation_id)


def items_begun(step: PlannedStep, record: StepRecord) -> int:
    """How many items of an each were given to children, which have to undo them."""
    found: int = import_module("stepward.domain.steps.many").items_begun(step, record)
    return found


def item_of(change: TaskChange, step: PlannedStep) -> object:
    """The item that a step of an each works on, as its condition reads it."""
    return import_module("stepward.domain.steps.each").item_of(change, step.name)


def tell_parent(change: TaskChange, event: object) -> None:
    """Have the parent of a child told how that ended; few tasks have one."""
    import_module("stepward.domain.steps.parent").tell(change, event)
