"""Conditions joined, read back, evaluated and put into words; all of them are data."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from stepward.domain.errors import NotUnderstood, WorkflowError
from stepward.domain.workflow.refs import (
    COMPARISONS,
    Condition,
    comparison_fault,
    default_of,
    look_up,
    name_of,
    read_ref,
    unread,
)
from stepward.domain.workflow.values import MISSING, UNREAD, Constant, Frozen, as_kind, kind_of, read_constant, thawed

JOINS = frozenset({"all_of", "any_of", "none_of"})
DEEPEST = 10
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    name: getattr(operator, name) for name in ("gt", "ge", "lt", "le", "eq", "ne")
}
_WORDS = {
    "gt": "is over",
    "ge": "is at least",
    "lt": "is below",
    "le": "is at most",
    "eq": "is",
    "ne": "is not",
    "one_of": "is",
}


def all_of(*conditions: Condition) -> Condition:
    """Whether all of `conditions` hold."""
    return _join("all_of", conditions)


def any_of(*conditions: Condition) -> Condition:
    """Whether at least one of `conditions` holds."""
    return _join("any_of", conditions)


def none_of(*conditions: Condition) -> Condition:
    """Whether none of `conditions` holds."""
    return _join("none_of", conditions)


def read_condition(raw: object) -> Frozen:
    """The frozen condition in a plan's JSON; raises NotUnderstood for one that only newer code can have written."""
    match raw:
        case [str(name), _, *_] if name in JOINS:
            return (name, *map(read_condition, raw[1:]))
        case ["exists", ref]:
            return ("exists", read_ref(ref))
        case [str(name), ref, *constants] if name in COMPARISONS:
            frozen = (name, read_ref(ref), *map(read_constant, constants))
            if (name == "one_of" or len(frozen) == 3) and not comparison_fault(*frozen[:2], *map(thawed, frozen[2:])):
                return frozen
    raise NotUnderstood(f"a condition {raw!r:.80}")


def holds(frozen: Frozen, order: object, results: Mapping[str, object], item: object = MISSING) -> bool | None:
    """Whether a frozen condition holds; None if nobody can tell: a value is missing, of another type or not at hand."""
    name, *parts = frozen
    if name in JOINS:
        return joined(name, [holds(part, order, results, item) for part in parts])
    if (found := look_up(parts[0], order, results, item)) is UNREAD:
        return None
    if name == "exists":
        return found is not MISSING and found is not None
    constants = [thawed(constant) for constant in parts[1:]]
    value = as_kind(found, kind_of(constants[0]))
    if value is MISSING:
        value = default_of(parts[0])
    if value is MISSING:
        return None
    return value in constants if name == "one_of" else _COMPARE[name](value, constants[0])


def compared(frozen: Frozen) -> Iterator[tuple[Frozen, Sequence[Constant]]]:
    """Each ref of a condition, with the constants that it is compared with."""
    name, *parts = frozen
    if name in JOINS:
        for part in parts:
            yield from compared(part)
    else:
        yield parts[0], [thawed(constant) for constant in parts[1:]]


def why_unread(frozen: Frozen, results: Mapping[str, object]) -> str:
    """Why the first value of a condition that is not at hand is not; "" if all are."""
    refs = (ref for ref, _ in compared(frozen))
    return next((unread(ref) for ref in refs if look_up(ref, {}, results) is UNREAD), "")


def joined(name: str, answers: Sequence[bool | None]) -> bool | None:
    """What a join makes of its parts: one that decides alone decides, whatever the others are."""
    decisive = name != "all_of"
    found = decisive if decisive in answers else None if None in answers else not decisive
    return not found if name == "none_of" and found is not None else found


def words(frozen: Frozen) -> str:
    """A frozen condition in words: `when screen.score is over 70 (100 if missing)`."""
    return f"when {said(frozen)}"


def said_not(frozen: Frozen) -> str:
    """That a frozen condition does not hold, as part of a sentence."""
    name, *parts = frozen
    if name == "exists":
        return f"{name_of(parts[0])} does not exist"
    if name in JOINS:
        return f"it is not so that {said(frozen)}"
    denied = "is" if name == "ne" else _WORDS[name].replace("is", "is not", 1)
    return said(frozen).replace(f"{name_of(parts[0])} {_WORDS[name]} ", f"{name_of(parts[0])} {denied} ", 1)


def said(frozen: Frozen, *, inner: bool = False) -> str:
    """A frozen condition, as part of a sentence."""
    name, *parts = frozen
    match name:
        case "exists":
            return f"{name_of(parts[0])} exists"
        case "none_of":
            return f"none of ({', '.join(map(said, parts))})" if len(parts) > 1 else f"not ({said(parts[0])})"
        case "all_of" | "any_of":
            both = f" {'and' if name == 'all_of' else 'or'} ".join(said(part, inner=True) for part in parts)
            return f"({both})" if inner and len(parts) > 1 else both
        case _:
            default = default_of(parts[0])
            constants = " or ".join(_constant(thawed(part)) for part in parts[1:])
            missing = "" if default is MISSING else f" ({_constant(default)} if missing)"
            return f"{name_of(parts[0])} {_WORDS[name]} {constants}{missing}"


def _constant(constant: Constant) -> str:
    return str(constant) if isinstance(constant, Decimal) else json.dumps(constant, ensure_ascii=False)


def _join(name: str, conditions: Sequence[Condition]) -> Condition:
    for each in conditions:
        if not isinstance(each, Condition):
            raise WorkflowError(f"{name} takes conditions, not {each!r:.80}")
    if not conditions:
        raise WorkflowError(f"{name} needs at least one condition")
    frozen = (name, *(each.frozen for each in conditions))
    if _depth(frozen) > DEEPEST:
        raise WorkflowError(f"{name}: conditions are nested more than {DEEPEST} deep; put the inner ones side by side")
    return Condition(frozen)


def _depth(frozen: Frozen) -> int:
    return 1 + max(map(_depth, frozen[1:])) if frozen[0] in JOINS else 0
