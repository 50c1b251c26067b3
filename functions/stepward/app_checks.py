"""What only an import of the whole application shows: a class that no message fits, a workflow that nothing lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from stepward.domain.workflow.application import IMPORT_IT, App
from stepward.domain.workflow.definition import Workflow

_TAKE = "take str, int, bool, Decimal, datetime, list, dict, Literal, an enum, or a class of such fields"


def unfit_messages(app: App) -> Iterator[tuple[type[Any], str]]:
    """Each class of messages that none would fit, with the reason: all orders would be rejected, or come back."""
    declared = [each for workflow in app.workflows for each in (workflow.order, *workflow.signals.values())]
    for message in (*declared, app.event):
        if message and (fault := _fault_of(message)):
            yield message, f"class {message.__name__}: {fault}"


def unlisted_workflows(app: App, functions: Path) -> Iterator[str]:
    """A notice of each workflow in the project's code that the application does not list, so that no order has it."""
    seen = list(app.workflows)
    for module in list(sys.modules.values()):
        file = Path(getattr(module, "__file__", None) or "/")
        if file.is_relative_to(functions):
            for each in vars(module).values():
                if isinstance(each, Workflow) and each not in seen:
                    seen.append(each)
                    where = f"{functions.name}/{file.relative_to(functions)}"
                    yield f"{where}: app {app.name!r} does not list workflow {each.name!r}; add it to workflows=[...]"


def _fault_of(message: type[Any]) -> str:
    typed = {name for each in getattr(message, "__mro__", ()) for name in getattr(each, "__annotations__", {})}
    for name, value in vars(message).items() if isinstance(message, type) else ():
        is_other = name.startswith("_") or isinstance(value, type) or hasattr(value, "__get__")
        if not is_other and name not in typed:
            return f"{name} has no type, so no message may have it; write {name}: {type(value).__name__}"
    try:
        msgspec.json.schema(message)
    except NameError as error:
        return f"{error}; {IMPORT_IT}"
    except TypeError as error:
        return f"{_field_of(message)}{str(error).splitlines()[-1]}; {_TAKE}"
    return ""


def _field_of(message: type[Any]) -> str:
    """The field to blame, if the class tells."""
    is_struct = isinstance(message, type) and issubclass(message, msgspec.Struct)
    for each in msgspec.structs.fields(message) if is_struct else ():
        try:
            msgspec.json.schema(each.type)
        except TypeError:
            return f"{each.name}: "
    return ""
