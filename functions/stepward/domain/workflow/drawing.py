"""A workflow drawn for people: as text of 80 columns, and as a graph for Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from stepward.domain.workflow.conditions import words
from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy, StepKind
from stepward.domain.workflow.refs import default_of, name_of
from stepward.domain.workflow.values import MISSING, Frozen

WIDTH = 80
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))
_ESCAPES = str.maketrans(
    {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "%": "#37;", "`": "#96;", "{": "#123;", "}": "#125;"}
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """One step in words: who does it, what it waits for, and what else there is to know of it."""

    name: str
    does: str
    after: tuple[str, ...]
    facts: tuple[str, ...]
    shape: str = '["{}"]'
    """Its node in Mermaid."""


def drawn(plan: Plan) -> Sequence[Drawn]:
    """The steps of a workflow in words, in the order in which they were written."""
    return [_DRAWN[step.kind](step) for step in plan.steps]


def title(plan: Plan) -> str:
    """The workflow itself in words."""
    limit = (
        f"; an order has {_span(plan.complete_within)}, then: {_end(plan.on_timeout)}" if plan.complete_within else ""
    )
    return f"{plan.workflow}, version {plan.version}{limit}"


def as_text(plan: Plan) -> str:
    """The workflow as lines of at most 80 columns."""
    return "\n".join([*wrap(title(plan), WIDTH), *rails(plan)])


def rails(plan: Plan) -> Sequence[str]:
    """The steps as lines of at most 80 columns; a line on the left joins steps that follow one another."""
    lines: list[str] = []
    steps = drawn(plan)
    for at, step in enumerate(steps):
        follows = at + 1 < len(steps) and steps[at + 1].after == (step.name,)
        joins = at > 0 and step.after == (steps[at - 1].name,)
        rail = "│" if follows else " "
        waits = () if joins or not at else (f"after {' and '.join(step.after)}" if step.after else "begins at once",)
        lines += wrap(f"● {step.name}: {step.does}", WIDTH, subsequent_indent=f"{rail}   ")
        for fact in (*waits, *step.facts):
            lines += wrap(fact, WIDTH, initial_indent=f"{rail}   ", subsequent_indent=f"{rail}     ")
    return lines


def as_mermaid(plan: Plan) -> str:
    """The workflow as a flowchart for Mermaid; ids are numbers, since names may be reserved words there."""
    steps = drawn(plan)
    ids = {step.name: f"s{at}" for at, step in enumerate(steps)}
    nodes = [f"  {ids[step.name]}{step.shape.format(_label(step.name, step.does, *step.facts))}" for step in steps]
    arrows = [f"  {ids[wanted]} --> {ids[step.name]}" for step in steps for wanted in step.after]
    return "\n".join(["flowchart TD", *nodes, *arrows])


def _label(*lines: str) -> str:
    return "<br/>".join(line.translate(_ESCAPES) for line in lines)


def _call(step: PlannedStep) -> Drawn:
    failures = "failure" if step.threshold == 1 else "failures"
    undo = f"undone by {step.undo_agent}.{step.undo}" if step.undo else "no undo"
    facts = (
        f"{_span(step.complete_within)} an attempt; after {step.threshold} {failures}: {_policies(step)}",
        f"if refused: {_end(step.on_permanent)}",
        f"{undo}; point of no return" if step.point_of_no_return else undo,
    )
    return Drawn(step.name, f"{step.agent}.{step.operation}", step.after, (*_when(step), *facts))


def _timer(step: PlannedStep) -> Drawn:
    fact = f"ends at {_value(step.until)}" if step.until else f"ends {_span(step.complete_within)} after it begins"
    return Drawn(step.name, "timer", step.after, (*_when(step), fact), '(["{}"])')


def _signal(step: PlannedStep) -> Drawn:
    facts = (
        f"given within {_span(step.complete_within)}, else: {_policies(step)}",
        f"if refused: {_end(step.on_permanent)}",
        *([f"given by {step.by} only"] if step.by else ()),
    )
    return Drawn(step.name, "signal", step.after, (*_when(step), *facts), '[/"{}"/]')


def _child(step: PlannedStep) -> Drawn:
    workflow = step.child.workflow if step.child else ""
    facts = (
        f"ends within {_span(step.complete_within)}, else: {_policies(step)}",
        f"if undone: {_end(step.on_permanent)}",
        *(f"its {name} is {_value(ref)}" for name, ref in step.template),
        "undone with the order",
    )
    return Drawn(step.name, f"an order of {workflow}", step.after, (*_when(step), *facts), '[["{}"]]')


def _each(step: PlannedStep) -> Drawn:
    parts = [_call(part) for part in step.parts]
    facts = tuple(fact for part in parts for fact in (f"{part.name}: {part.does}", *part.facts))
    does = f"each of {name_of(step.items)}, {step.at_once} at once"
    return Drawn(step.name, does, step.after, (*_when(step), *facts), '[["{}"]]')


_DRAWN: Mapping[StepKind, Callable[[PlannedStep], Drawn]] = {
    StepKind.CALL: _call,
    StepKind.TIMER: _timer,
    StepKind.SIGNAL: _signal,
    StepKind.CHILD: _child,
    StepKind.EACH: _each,
}


def _when(step: PlannedStep) -> Sequence[str]:
    return (words(step.when),) if step.when else ()


def _value(ref: Frozen) -> str:
    default = default_of(ref)
    return name_of(ref) if default is MISSING else f"{name_of(ref)} ({default} if missing)"


def _policies(step: PlannedStep) -> str:
    return ", then ".join(map(_policy, step.exhausted))


def _policy(policy: Policy) -> str:
    match policy.kind:
        case Exhausted.WAIT | Exhausted.REMIND:
            waits = f"wait {_span(policy.wait)}" + (f" ({policy.rounds} times)" if policy.rounds > 1 else "")
            return f"alert and {waits}" if policy.kind is Exhausted.REMIND else waits
        case Exhausted.DEFAULT:
            return f"go on with {policy.answer if len(policy.answer) <= WIDTH // 2 else 'its default answer'}"
        case Exhausted.FALLBACK:
            undo = f" (undone by {policy.undo_agent}.{policy.undo})" if policy.undo else ""
            return f"{policy.agent}.{policy.operation} takes over{undo}"
        case _:
            return _end(policy.kind)


def _end(kind: Exhausted) -> str:
    return "undo the order" if kind is Exhausted.UNDO else "alert"


def _span(milliseconds: int) -> str:
    for size, unit in _UNITS:
        if milliseconds % size == 0:
            return f"{milliseconds // size} {unit}"
    return f"{milliseconds / 1000:g} s"
