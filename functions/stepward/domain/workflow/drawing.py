"""A workflow drawn for people: as text of 80 columns, as a Markdown table, and as a graph for Mermaid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from stepward.domain.workflow.plan import Exhausted, Plan, PlannedStep, Policy

WIDTH = 80
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))
_ESCAPES = str.maketrans({"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"})


@dataclass(frozen=True, slots=True)
class Drawn:
    """One step in words: who does it, what it waits for, and what else there is to know of it."""

    name: str
    does: str
    after: tuple[str, ...]
    facts: tuple[str, ...]


def drawn(plan: Plan) -> Sequence[Drawn]:
    """The steps of a workflow in words, in the order in which they were written."""
    return [Drawn(step.name, f"{step.agent}.{step.operation}", step.after, _facts(step)) for step in plan.steps]


def title(plan: Plan) -> str:
    """The workflow itself in words."""
    limit = (
        f"; an order has {_span(plan.complete_within)}, then: {_end(plan.on_timeout)}" if plan.complete_within else ""
    )
    return f"{plan.workflow}, version {plan.version}{limit}"


def as_text(plan: Plan) -> str:
    """The workflow as lines of at most 80 columns; a line on the left joins steps that follow one another."""
    lines = wrap(title(plan), WIDTH)
    steps = drawn(plan)
    for at, step in enumerate(steps):
        follows = at + 1 < len(steps) and steps[at + 1].after == (step.name,)
        joins = at > 0 and step.after == (steps[at - 1].name,)
        rail = "│" if follows else " "
        waits = () if joins or not at else (f"after {' and '.join(step.after)}" if step.after else "begins at once",)
        lines += wrap(f"● {step.name}: {step.does}", WIDTH, subsequent_indent=f"{rail}   ")
        for fact in (*waits, *step.facts):
            lines += wrap(fact, WIDTH, initial_indent=f"{rail}   ", subsequent_indent=f"{rail}     ")
    return "\n".join(lines)


def as_markdown(plan: Plan) -> str:
    """The workflow as a Markdown table, a row a step."""
    lines = ["| step | done by | after | |", "|---|---|---|---|"]
    for step in drawn(plan):
        cells = (step.name, step.does, ", ".join(step.after) or "-", "; ".join(step.facts))
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)


def as_mermaid(plan: Plan) -> str:
    """The workflow as a flowchart for Mermaid; ids are numbers, since names may be reserved words there."""
    steps = drawn(plan)
    ids = {step.name: f"s{at}" for at, step in enumerate(steps)}
    nodes = [f"  {ids[step.name]}{_label(step.name, step.does, *step.facts)}" for step in steps]
    arrows = [f"  {ids[wanted]} --> {ids[step.name]}" for step in steps for wanted in step.after]
    return "\n".join(["flowchart TD", *nodes, *arrows])


def _label(*lines: str) -> str:
    return f'["{"<br/>".join(line.translate(_ESCAPES) for line in lines)}"]'


def _facts(step: PlannedStep) -> tuple[str, ...]:
    policies = ", then ".join(map(_policy, step.exhausted))
    failures = "failure" if step.threshold == 1 else "failures"
    undo = f"undone by {step.undo_agent}.{step.undo}" if step.undo else "no undo"
    return (
        f"{_span(step.complete_within)} an attempt; after {step.threshold} {failures}: {policies}",
        f"if refused: {_end(step.on_permanent)}",
        f"{undo}; point of no return" if step.point_of_no_return else undo,
    )


def _policy(policy: Policy) -> str:
    match policy.kind:
        case Exhausted.WAIT:
            return f"wait {_span(policy.wait)}" + (f" ({policy.rounds} times)" if policy.rounds > 1 else "")
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
