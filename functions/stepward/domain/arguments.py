"""The commonest slips in a workflow's definition: an argument of the wrong kind, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import Enum
from types import UnionType
from typing import Any

from stepward.domain.errors import WorkflowError

Mend = Callable[[str, Any], str]
"""What to write instead of a value, for an argument of this name; "" if the value is of the right kind."""


def check_arguments(where: str, given: object, *names: str) -> None:
    """Refuse the first of these attributes that is of the wrong kind; most may be None, which leaves them out."""
    for name in names:
        value = getattr(given, name)
        if (value is not None or name in _NEEDED) and (mend := _MENDS[name](name, value)):
            raise WorkflowError(f"{where}: {name} is {said(value)}; {mend}")


def check_elements(where: str, name: str, elements: object, kinds: type | UnionType, mend: str) -> None:
    """Refuse what is no list, or a list with an element of another kind."""
    if not isinstance(elements, list | tuple):
        raise WorkflowError(f"{where}: {name} is {said(elements)}; write a list: {name}=[...]")
    for at, each in enumerate(elements):
        if not isinstance(each, kinds):
            raise WorkflowError(f"{where}: {name}[{at}] is {said(each)}; {mend}")


def named(operation: object) -> str:
    """The name of an operation, or of what was given in its place."""
    return str(getattr(operation, "name", None) or getattr(operation, "__name__", None) or said(operation))


def policy_mend(value: object) -> str:
    """What to write instead of a policy's name in quotes."""
    if isinstance(value, str) and value.upper() in {"UNDO", "ALERT"}:
        name = value.upper()
        return f"; write {name} without quotes, and from stepward import {name}"
    return ""


def a_name_such_as(name: str, longest: int, joint: str) -> str:
    """A name that fits, made of one that does not."""
    fits = re.sub(r"[^a-z0-9_-]+", joint, name.lower()).lstrip("-_0123456789")
    fits = (fits if joint == "_" else fits.replace("_", joint))[:longest].rstrip("-_")
    return f"; such as {fits!r}" if fits else ""


def said(value: object) -> str:
    """What was given, in words."""
    if _is_operation(value):
        return f"the operation {named(value)!r}"
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return f"the function {value.__name__!r}"
    if isinstance(value, type):
        return f"the class {value.__name__!r}"
    if isinstance(value, str | int | float):
        return f"{value!r} ({type(value).__name__})"
    return repr(value) if value is None else type(value).__name__


def _is_operation(value: object) -> bool:
    return hasattr(value, "agent") and hasattr(value, "run")


def _operation(name: str, value: object) -> str:
    if named(value) == "<lambda>":
        return "write a function with def, and @AGENT.operation above it, with its agent"
    if _is_operation(value):
        return ""
    if callable(value) and hasattr(value, "__name__"):
        return "make it one: write @AGENT.operation above it, with its agent"
    if name == "undo" and isinstance(value, str) and value.isidentifier():
        return f"write undo={value}, without quotes"
    return "write the operation itself, without quotes and without calling it: Step(charge, undo=refund, ...)"


def _span(name: str, value: object) -> str:
    if isinstance(value, timedelta):
        return ""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 60
    return f"write {name}=seconds({number:g}), or minutes, hours or days"


def _whole(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return ""
    is_number = isinstance(value, str) and value.isdecimal()
    return f"write a whole number: {name}={value if is_number else 1}"


def _text(name: str, value: object) -> str:
    return "" if isinstance(value, str) else f'write a text: {name}="some-name"'


def _ending(name: str, value: object) -> str:
    return "" if isinstance(value, Enum) else f"it takes UNDO or ALERT: {name}=UNDO{policy_mend(value)}"


def _steps(name: str, value: object) -> str:
    if not isinstance(value, list | tuple):
        shown = named(value) if _is_operation(value) else repr(value) if isinstance(value, str) else "..."
        return f"write a list: {name}=[{shown}]"
    wrong = [each for each in value if not isinstance(each, str) and not hasattr(each, "name")]
    return f"it holds {said(wrong[0])}; write the steps that it waits for: {name}=[reserve]" if wrong else ""


def _texts(name: str, value: object) -> str:
    return f"write several: {name}=({value!r},)" if isinstance(value, str) else ""


def _condition(name: str, value: object) -> str:
    if hasattr(value, "frozen") and not hasattr(value, "exists"):
        return ""
    return f'write a condition on a ref, which is data: {name}=ref.order("amount") > 100, and from stepward import ref'


def _message(name: str, value: object) -> str:
    if {"order": "submitted_at", "event": "op"}[name] in getattr(value, "__struct_fields__", ()):
        return ""
    base = f"{name.capitalize()}Message"
    return f"write {name}=a subclass of {base}: class Mine({base}, frozen=True, kw_only=True)"


def _ref(name: str, value: object) -> str:
    return "" if hasattr(value, "exists") else f'write a ref to where it is: {name}=ref.order("departsAt")'


def _class(name: str, value: object) -> str:
    is_class = isinstance(value, type) or hasattr(value, "__origin__")
    return "" if is_class else f"write a class, without quotes: {name}=Approval"


def _workflow(name: str, value: object) -> str:
    return "" if hasattr(value, "steps") else f"write the workflow itself, without quotes: {name}=fulfilment"


_NEEDED = {"name", "operation", "version", "delay", "message", "workflow"}
_MENDS: Mapping[str, Mend] = {
    **dict.fromkeys(("operation", "undo", "check"), _operation),
    **dict.fromkeys(("complete_within", "answer_within", "delay", "span", "settle"), _span),
    **dict.fromkeys(("version", "threshold", "rounds", "max_concurrency", "memory_mb", "at_once"), _whole),
    **dict.fromkeys(("on_timeout", "on_permanent", "on_failure", "on_refused", "on_undone"), _ending),
    **dict.fromkeys(("order", "event"), _message),
    "when": _condition,
    "until": _ref,
    "message": _class,
    **dict.fromkeys(("workflow", "default"), _workflow),
    "name": _text,
    "after": _steps,
    "services": _texts,
}
