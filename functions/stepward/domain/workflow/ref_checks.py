"""Checks of refs and conditions when a workflow is imported: each reads what exists by then, or says what else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stepward.domain.errors import WorkflowError
from stepward.domain.workflow.conditions import JOINS, compared, joined
from stepward.domain.workflow.plan import Plan, PlannedStep
from stepward.domain.workflow.refs import default_of, name_of, place_of
from stepward.domain.workflow.shapes import UNTYPED, Shape, ShapeKind, shape_of, shape_of_result
from stepward.domain.workflow.values import MISSING, Frozen, ValueKind, kind_of

Place = tuple[str, ...]
_COMPARABLE = {
    ValueKind.TEXT: {ShapeKind.TEXT, ShapeKind.INSTANT, ShapeKind.ANY},
    ValueKind.NUMBER: {ShapeKind.NUMBER, ShapeKind.TEXT, ShapeKind.ANY},
    ValueKind.BOOLEAN: {ShapeKind.BOOLEAN, ShapeKind.ANY},
}
_NAMED = 10
"""How many fields or steps an error lists."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the refs of one step can read: the order, the results of all steps before it, the item of an Each."""

    where: str
    order: Shape
    results: Mapping[str, Shape]
    steps: Collection[str]
    item: Shape | None = None
    eaches: Collection[str] = ()
    later: Collection[str] = ()

    @staticmethod
    def of(
        step: str,
        plan: Plan,
        order: type[Any] | None,
        runs: Mapping[str, Sequence[Callable[..., Any]]],
        skippable: Collection[str] = (),
    ) -> Scope:
        """The scope of `step`: `runs` are the functions that may make a step's result, or its class."""
        before = [name for name in plan.by_name if step in plan.dependents.get(name, ())]
        shapes = {name: shape_of_result(runs.get(name, ())) for name in before}
        return Scope(
            f"workflow {plan.workflow!r}, step {step!r}",
            replace(shape_of(order), optional=False),
            {name: replace(shape, optional=name in skippable) for name, shape in shapes.items()},
            [each.name for each in plan.steps],
            eaches=[each.name for each in plan.steps if each.parts],
            later=(step, *plan.dependents.get(step, ())),
        )


def check_refs(plan: Plan, order: type[Any] | None, runs: Mapping[str, Sequence[Callable[..., Any]]]) -> None:
    """Refuse a step that reads what is not there by then, or may be missing, or what it cannot use."""
    skippable = {step.name for step in plan.with_parts if step.when}
    for step in plan.steps:
        scope = Scope.of(step.name, plan, order, runs, skippable)
        if step.when:
            check_condition(scope, step.when)
        if step.until and (shape := check_ref(scope, step.until)).kind not in {ShapeKind.INSTANT, ShapeKind.ANY}:
            raise WorkflowError(f"{scope.where}: {name_of(step.until)} is {shape.kind}; a timer ends at a zoned time")
        for _, ref in step.template:
            check_ref(scope, ref)
        if step.items:
            _check_each(scope, step, runs, skippable)


def _check_each(
    scope: Scope, step: PlannedStep, runs: Mapping[str, Sequence[Callable[..., Any]]], skippable: Collection[str]
) -> None:
    """Refuse a list that is none, and a condition of an item's step that nobody could tell."""
    (listed, missing), name = _read(scope, step.items), name_of(step.items)
    if listed.kind not in {ShapeKind.LIST, ShapeKind.ANY}:
        raise WorkflowError(f"{scope.where}: {name} is {listed.kind}; an each takes a list")
    if missing and not step.when:
        raise WorkflowError(f"{scope.where}: {name} may be missing; give the each a when=, such as its .exists()")
    item = listed.element if listed.kind is ShapeKind.LIST else UNTYPED
    results = dict(scope.results)
    for part in step.parts:
        inner = replace(scope, where=f"{scope.where}, its step {part.name!r}", results=results, item=item)
        if part.when:
            check_condition(inner, part.when)
        results |= {part.name: replace(shape_of_result(runs.get(part.name, ())), optional=part.name in skippable)}


def check_condition(scope: Scope, frozen: Frozen) -> None:
    """Refuse a condition that nobody could tell for some order that is valid."""
    for ref, constants in compared(frozen):
        shape, places = _read(scope, ref)
        for constant in constants:
            if shape.kind not in _COMPARABLE[kind := kind_of(constant)]:
                raise WorkflowError(
                    f"{scope.where}: {name_of(ref)} is {shape.kind}, and never compares with {constant!r}; compare a "
                    f"field that holds a {kind}"
                )
        for place in places:
            if None in _outcomes(frozen, place):
                raise WorkflowError(
                    f"{scope.where}: {name_of(ref)} may be missing; give it a default=, or put its .exists() beside it "
                    "in all_of(…)"
                )


def check_ref(scope: Scope, frozen: Frozen) -> Shape:
    """What the value of a ref is; refuses one that may be missing and has no default."""
    shape, places = _read(scope, frozen)
    if places and default_of(frozen) is MISSING:
        raise WorkflowError(f"{scope.where}: {name_of(frozen)} may be missing; give it a default=")
    return shape


def _read(scope: Scope, ref: Frozen) -> tuple[Shape, Sequence[Place]]:
    """The shape of a ref's value, and each place on the way to it that may be missing."""
    place = place_of(ref)
    at, shape = _root(scope, place)
    missing = [place[:at]] if shape.optional else []
    for end in range(at, len(place)):
        shape = _field(scope, shape, place[: end + 1])
        if shape.optional:
            missing.append(place[: end + 1])
    return shape, missing


def _root(scope: Scope, place: Place) -> tuple[int, Shape]:
    match place:
        case ("order", *_):
            return 1, scope.order
        case ("result", step, *_) if step in scope.eaches:
            raise WorkflowError(
                f"{scope.where}: reads the result of the each {step!r}, which is its items or, over ten, their count; "
                "read it in an operation"
            )
        case ("result", step, *_) if step in scope.results:
            return 2, scope.results[step]
        case ("result", step, *_) if step in scope.steps:
            later, beside = "comes no sooner; write this step behind it", "may not be done by then; add it to after="
            why = later if step in scope.later else beside
            raise WorkflowError(f"{scope.where}: reads the result of {step!r}, which {why}")
        case ("result", step, *_):
            raise WorkflowError(
                f"{scope.where}: reads the result of {step!r}, which is no step; the steps are {_listed(scope.steps)}"
            )
    if scope.item is None:
        raise WorkflowError(
            f"{scope.where}: reads an item, and only a step of an Each has one; read the order or a result"
        )
    return 1, scope.item


def _field(scope: Scope, shape: Shape, place: Place) -> Shape:
    *parent, name = place
    whole = ".".join(parent[parent[0] == "result" :])
    if shape.kind not in {ShapeKind.OBJECT, ShapeKind.ANY}:
        raise WorkflowError(f"{scope.where}: reads {name!r} of {whole}, which is {shape.kind}")
    if shape.fields is None:
        return UNTYPED
    if name not in shape.fields:
        raise WorkflowError(
            f"{scope.where}: {whole} has no field {name!r}; {shape.of.__name__} has {_listed(_nearest(name, shape))}"
        )
    return shape.fields[name]


def _outcomes(frozen: Frozen, missing: Place) -> set[bool | None]:
    """What a condition may come to if there is nothing at `missing`, whatever is elsewhere."""
    name, *parts = frozen
    if name in JOINS:
        join = "all_of" if name == "all_of" else "any_of"
        found: set[bool | None] = {join == "all_of"}
        for part in parts:
            found = {joined(join, (one, other)) for one in found for other in _outcomes(part, missing)}
        return {joined(name, (one,)) for one in found} if name == "none_of" else found
    if place_of(parts[0])[: len(missing)] != missing or default_of(parts[0]) is not MISSING:
        return {True, False}
    return {False} if name == "exists" else {None}


def _nearest(name: str, shape: Shape) -> Collection[str]:
    """The fields of a shape: those that the name is most like, then its own, then those that it inherits."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a definition with a slip needs it

    named = {each.replace("_", "").lower() for each in vars(shape.of).get("__annotations__", ())}
    own = [field for field in shape.fields or () if field.lower() in named]
    return dict.fromkeys([*get_close_matches(name, shape.fields or ()), *own, *(shape.fields or ())])


def _listed(names: Collection[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(list(names)[:_NAMED]) + (f" and {more} more" if more > 0 else "")
