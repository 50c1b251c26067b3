"""The orders of a world that are a step of another order: their workflows, and the operators who act on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from stepward.domain.key import child_key
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.workflow.children import ASKS
from stepward.domain.workflow.plan import UNDO_SUFFIX, Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import HOUR, MINUTE
from stepward.testing.faults.waits import outlived
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.people import People
from tests.factories import planned
from tests.lab.worlds.plans import SHORT, UNDOING, URGENT, answered_later, changed, insert

PART = "part"
PROCESSED, ERROR, UNDONE = ProcessState.PROCESSED, ProcessState.ERROR, ProcessState.UNDONE
DEEPER = 0.2
"""The share of children that have a child."""
ENDS = [Exhausted.ALERT, Exhausted.UNDO]
URGENT_ONLY = 0.5
"""The share of workflows whose child only urgent orders have."""
FINAL = Plan(PART, 1, (planned("number", **SHORT), planned("bill", "number", **SHORT)), is_child=True)
UNDOABLE = replace(
    FINAL,
    steps=(
        planned("number", undo="void", **SHORT),
        planned("bill", "number", undo="unbill", **SHORT, **UNDOING),
    ),
)


def with_children(plans: Sequence[Plan], dice: Random, *, undoable: bool) -> list[Plan]:
    """The releases with a step that is an order of its own, whose workflow each of them changes as well."""
    parts = [answered_later(UNDOABLE if undoable else FINAL, dice)]
    for plan in plans[1:]:
        parts.append(changed(parts[-1], plan.version, dice))
    if dice.random() < DEEPER:
        parts = _joined(parts, parts, dice, undoable=undoable)
    return _joined(plans, parts, dice, undoable=undoable)


def _joined(plans: Sequence[Plan], parts: Sequence[Plan], dice: Random, *, undoable: bool) -> list[Plan]:
    when = URGENT if dice.random() < URGENT_ONLY else ()
    both = zip(plans, parts, strict=True)
    return [
        _with_part(plan, replace(_part(dice, undoable=undoable), child=part, when=when), dice) for plan, part in both
    ]


def _part(dice: Random, *, undoable: bool) -> PlannedStep:
    limit, (late, undone) = dice.choice([20 * MINUTE, 3 * HOUR]), (dice.choice(ENDS[: 1 + undoable]) for _ in range(2))
    return PlannedStep(PART, "", "", (), limit, ASKS, (Policy(late),), on_permanent=undone, kind=StepKind.CHILD)


def _with_part(plan: Plan, part: PlannedStep, dice: Random) -> Plan:
    steps, place = list(plan.steps), dice.randint(0, len(plan.steps))
    before = steps[place - 1].name if place else ""
    proof = ("result", before, "done", "none") if before else ("order", "note", "none")
    insert(steps, place, replace(part, template=(("proof", proof),)))
    return replace(plan, steps=tuple(steps))


@dataclass(frozen=True, slots=True)
class Children:
    """Operators undo, pause and resume the orders that these `steps` are, perhaps before they are there."""

    gate: Gate
    people: People
    within: int
    steps: Sequence[str]

    def begin(self, orders: Iterable[str]) -> None:
        """Have some operators act."""
        for key in (child_key(order_id, step) for order_id in orders for step in self.steps):
            if dice := self.gate.chances.happens(f"{key}: a command", self.gate.profile.people / 4):
                self.people.command(dice, key, dice.randrange(self.within))

    def verdict(self, parts: Instances) -> None:
        """I13 at quiet time: who is done has a child that is done, and who is undone has one that is undone."""
        tasks = parts.store.tasks
        once = {key for (key, _), reached in parts.judge.reached.items() if reached.process_state is UNDONE}
        for order_id, task in tasks.items():
            for fault in outlived(task, parts.judge.plan(task), tasks):
                raise Broken("I13", order_id, fault)
            if task.parent is not None:
                self._count(task, tasks[task.parent.order_id], undone=order_id in once)

    def _count(self, child: Task, parent: Task, *, undone: bool) -> None:
        counts, begun = self.gate.diary.counts, any(record.attempt for record in child.steps.values())
        counts[f"children, {child.process_state}" if begun else "children, undone before they began"] += 1
        undone = undone or child.process_state is UNDONE  # of a late effect after that, its own alert tells
        if parent.process_state is UNDONE and not undone:
            raise Broken("I13", child.order_id, f"its parent is Undone, and it is {child.process_state}")
        if not parent.paused and _is_unheard(child, parent.steps):
            raise Broken("I1", parent.order_id, f"{child.order_id} is {child.process_state}, and it never heard")


def _is_unheard(child: Task, steps: Mapping[str, StepRecord]) -> bool:
    """Whether the child's step does not know that the child has ended."""
    name, _, at = (child.parent.step if child.parent else "").partition(".")
    record, undo = steps[name], steps.get(name + UNDO_SUFFIX)
    if child.process_state is PROCESSED:
        return undo is None and not _knows(record, at)
    if child.process_state is not UNDONE:
        return False
    return undo.attempt > 0 and not _knows(undo, at) if undo else record.process_state is not ERROR


def _knows(record: StepRecord, at: str) -> bool:
    """Whether its child has ended, the one at this place if it has several."""
    noted = int(record.ended or "0", 16) >> int(at) & 1 if at else 0
    return record.process_state is PROCESSED or bool(noted)
