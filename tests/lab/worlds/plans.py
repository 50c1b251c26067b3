"""The workflows of the worlds, and their next releases, which are deployed while orders are in flight."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from stepward.domain.messages import OPERATORS
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from tests.factories import ALERTS, HOUR, MINUTE, SECOND, UNDOES, falls_back, planned, waits

SHORT: dict[str, Any] = {"complete_within": 30 * SECOND, "threshold": 2}
LONG: dict[str, Any] = {"complete_within": 2 * MINUTE, "threshold": 3}
UNDOING: dict[str, Any] = {"exhausted": (UNDOES,), "on_permanent": Exhausted.UNDO}
ELSEWHERE = falls_back("other", undo="give_back")


LINE = Plan(
    "line",
    1,
    (
        planned("reserve", **SHORT),
        planned("charge", "reserve", **LONG),
        planned("ship", "charge", **SHORT),
    ),
)
UNDOABLE = Plan(
    "undoable",
    1,
    (
        planned("reserve", undo="release", **LONG, **UNDOING),
        planned("charge", "reserve", undo="refund", **SHORT, **UNDOING),
        planned("ship", "charge", undo="recall", **LONG, **UNDOING),
    ),
)
DIAMOND = Plan(
    "diamond",
    1,
    (
        planned("check", undo="uncheck", **SHORT),
        planned("pick", "check", undo="unpick", **SHORT, **UNDOING),
        planned("pay", "check", undo="unpay", **LONG),
        planned("ship", "pick", "pay", undo="recall", **SHORT, **UNDOING),
    ),
)
PATIENT = Plan(
    "patient",
    1,
    (
        planned("pick", undo="unpick", **SHORT, exhausted=(ELSEWHERE, waits(2 * MINUTE), ALERTS)),
        planned("pay", "pick", undo="unpay", **SHORT, exhausted=(waits(HOUR), ELSEWHERE, UNDOES)),
    ),
)
FINAL = Plan(
    "final",
    1,
    (
        planned("pick", undo="unpick", **SHORT, **UNDOING),
        planned("print", "pick", undo="shred", **SHORT, **UNDOING, point_of_no_return=True),
        planned("ship", "print", undo="recall", **SHORT, **UNDOING),
    ),
)
FAMILIES = [LINE, UNDOABLE, DIAMOND, PATIENT, FINAL]
"""A plan that cannot be undone is only paused and resumed: nothing takes back what it did."""

LATER = 0.3
"""The share of worlds in which one step is answered later."""


def answered_later(plan: Plan, dice: Random) -> Plan:
    """The plan as it is or, in some worlds, with a step whose service has this long to answer."""
    if dice.random() >= LATER:
        return plan
    name, limit = dice.choice(plan.steps).name, dice.choice([MINUTE, 20 * MINUTE, 3 * HOUR])
    steps = tuple(replace(step, answer_within=limit) if step.name == name else step for step in plan.steps)
    return replace(plan, steps=steps)


Steps = list[PlannedStep]
MOST_CHANGES = 3
AGENTS = ["worker", "other", "new"]


def checked(plan: Plan, dice: Random) -> Plan:
    """The plan with a check of one of its steps."""
    place = dice.randrange(len(plan.steps))
    steps = (replace(s, check=f"find_{s.name}") if at == place else s for at, s in enumerate(plan.steps))
    return replace(plan, steps=tuple(steps))


def releases(plan: Plan, dice: Random) -> Iterator[Plan]:
    """The releases that follow: each changes steps, operations, agents or limits."""
    for number in range(2, 2 + dice.choice([1, 1, 2])):
        plan = changed(plan, number, dice)
        yield plan


def changed(plan: Plan, number: int, dice: Random) -> Plan:
    """The release of this number, which changes what the plan says."""
    steps = list(plan.steps)
    for change in range(dice.randint(1, MOST_CHANGES)):
        dice.choice(CHANGES)(steps, dice, f"{number}{'abc'[change]}")
    return replace(plan, version=number, steps=tuple(steps))


def _add(steps: Steps, dice: Random, name: str) -> None:
    """A step more, somewhere."""
    place, undo = dice.randint(1, len(steps)), f"unadd{name}" if steps[0].undo else ""
    before = steps[place - 1]
    added = planned(f"added{name}", before.name, undo=undo, **dice.choice([SHORT, LONG]), **(UNDOING if undo else {}))
    for index, step in enumerate(steps):
        after = tuple(added.name if each == before.name else each for each in step.after)
        steps[index] = replace(step, after=after)
    steps.insert(place, added)
    _place(steps, place, dice.choice(AGENTS))


def _remove(steps: Steps, _dice: Random, _name: str) -> None:
    """The last step is no longer there."""
    if len(steps) > 1:
        steps.pop()


def _rename(steps: Steps, dice: Random, name: str) -> None:
    """A step has another name, and so has its operation."""
    place = dice.randrange(len(steps))
    old, new = steps[place].name, f"{steps[place].name}{name}"
    steps[place] = replace(steps[place], name=new, operation=new)
    for index, step in enumerate(steps):
        steps[index] = replace(step, after=tuple(new if each == old else each for each in step.after))


def _rename_operation(steps: Steps, dice: Random, name: str) -> None:
    place = dice.randrange(len(steps))
    step = steps[place]
    steps[place] = replace(step, operation=f"{step.operation}{name}", undo=step.undo and f"{step.undo}{name}")


def _move(steps: Steps, dice: Random, _name: str) -> None:
    _place(steps, dice.randrange(len(steps)), dice.choice(AGENTS))


def _limit(steps: Steps, dice: Random, _name: str) -> None:
    """Other limits and policies."""
    place = dice.randrange(len(steps))
    limits = dice.choice([SHORT, LONG]) | ({"exhausted": (waits(MINUTE), ALERTS)} if dice.random() < 0.5 else {})
    steps[place] = replace(steps[place], **limits)


def _place(steps: Steps, place: int, agent: str) -> None:
    """Move a step, and what undoes it, to an agent."""
    undo_agent = agent if steps[place].undo else ""
    steps[place] = replace(steps[place], agent=agent, undo_agent=undo_agent)


CHANGES: list[Callable[[Steps, Random, str], None]] = [_add, _add, _remove, _rename, _rename_operation, _move, _limit]


APPROVAL = "approval"
ANSWERS = [
    (ALERTS,),
    (Policy(Exhausted.REMIND, wait=10 * MINUTE, rounds=2), ALERTS),
    (Policy(Exhausted.DEFAULT, answer='{"by":"nobody"}'),),
    (UNDOES,),
]
SPANS = [20 * SECOND, 5 * MINUTE, 40 * MINUTE]
URGENT = ("eq", ("order", "priority", "normal"), "high")


def waiting(plan: Plan, dice: Random) -> Plan:
    """The plan with a timer and a signal in it, and with a step that only urgent orders need."""
    steps, undoable = list(plan.steps), all(who.undo for step in plan.steps for who in step.executors)
    timer = PlannedStep("cooling", "", "", (), dice.choice(SPANS), 1, kind=StepKind.TIMER)
    answers = dice.choice(ANSWERS if undoable else ANSWERS[:-1])
    refused = Exhausted.UNDO if undoable and dice.random() < 0.5 else Exhausted.ALERT
    signal = replace(timer, name=APPROVAL, kind=StepKind.SIGNAL, complete_within=dice.choice(SPANS[1:]))
    signal = replace(signal, exhausted=answers, on_permanent=refused, by=dice.choice(["", "", OPERATORS]))
    for wait in (timer, signal):
        insert(steps, dice.randint(0, len(steps)), wait)
    place = dice.randrange(len(steps))
    if steps[place].agent and not steps[place].point_of_no_return:
        steps[place] = replace(steps[place], when=URGENT)
    return replace(plan, steps=tuple(steps))


def insert(steps: Steps, place: int, wait: PlannedStep) -> None:
    """Put a wait behind the step before this place, or first; what came after that comes after the wait."""
    before = (steps[place - 1].name,) if place else ()
    for index, step in enumerate(steps):
        if before and before[0] in step.after:
            steps[index] = replace(step, after=tuple(wait.name if each == before[0] else each for each in step.after))
        elif not before and not step.after:
            steps[index] = replace(step, after=(wait.name,))
    steps.insert(place, replace(wait, after=before))


PARCELS = ("order", "parcels")
PACKING = planned("pack", undo="unpack", **SHORT, **UNDOING), planned("label", undo="unlabel", **SHORT)


def with_items(plans: Sequence[Plan], dice: Random, *, undoable: bool) -> list[Plan]:
    """The releases with steps for each of an order's parcels, which each release changes as well."""
    steps = PACKING[: dice.choice([1, 2])]
    packing = Plan("packing", 1, steps if undoable else tuple(planned(step.name, **SHORT) for step in steps))
    made = []
    for plan in plans:
        packing = changed(packing, plan.version, dice) if plan.version > 1 else packing
        parts = tuple(replace(step, after=()) for step in packing.steps)
        each = PlannedStep("parcels", "", "", (), 0, 1, at_once=dice.choice([1, 2]), kind=StepKind.EACH, parts=parts)
        ready = list(plan.steps)
        insert(ready, dice.randint(0, len(ready)), replace(each, items=PARCELS, when=("exists", PARCELS)))
        made.append(replace(plan, steps=tuple(ready)))
    return made
