"""What the dataclasses of a bundle share, whose own methods are compiled with it: see `compiling.py` in stepward_cdk.

They behave like those of `dataclasses`. But what few ask for is made only when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, make_dataclass, replace
from inspect import Parameter, get_annotations, signature
from reprlib import recursive_repr
from typing import Any

FACTORY = object()
"""Stands for an argument that was left out, and that a factory makes."""


class Fields:
    """A class's `__dataclass_fields__`; `written` has those for which its source calls `field`."""

    def __init__(self, written: Callable[[], Mapping[str, Any]], *, kw_only: bool) -> None:
        self._written, self._kw_only = written, kw_only

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Mapping[str, Field[Any]]:
        own, plain = self._own(), {"__doc__": "Or its signature would be computed."}
        made: Any = make_dataclass(
            "_", own, namespace=plain, init=False, repr=False, eq=False, match_args=False, kw_only=self._kw_only
        )
        found: Mapping[str, Field[Any]] = made.__dataclass_fields__
        self._owner.__dataclass_fields__ = found
        return found

    def _own(self) -> list[tuple[str, Any, Any]]:
        written, taken = self._written(), signature(self._owner.__init__).parameters
        kinds = {name: kind for each in reversed(self._owner.__mro__) for name, kind in get_annotations(each).items()}
        own = {name: kind for name, kind in kinds.items() if "ClassVar[" not in str(kind)}
        return [(name, kind, written.get(name) or _plain(taken[name])) for name, kind in own.items()]


class Parameters:
    """A class's `__dataclass_params__`."""

    def __init__(self, **options: bool) -> None:
        self._options: Mapping[str, Any] = options

    def __get__(self, instance: object, owner: type | None = None) -> object:
        made: Any = make_dataclass("_", [], **self._options)
        return made.__dataclass_params__


class Shared:
    """Methods of every dataclass."""

    __replace__ = replace

    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Frozen(Shared):
    """Methods of every frozen dataclass."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self)]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for each, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)


def _plain(taken: Parameter) -> Any:
    return field(default=MISSING if taken.default is Parameter.empty else taken.default)
