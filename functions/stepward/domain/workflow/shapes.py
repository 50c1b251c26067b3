"""What a class or an annotation tells of its JSON: the fields, which may be left out, and what they hold.

It reads msgspec's Structs by the attributes that each of them has, since the domain imports no library.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


class ShapeKind(StrEnum):
    """What a JSON value is, in words."""

    ANY = "anything"
    TEXT = "a text"
    INSTANT = "a zoned time"
    NUMBER = "a number"
    BOOLEAN = "a bool"
    LIST = "a list"
    OBJECT = "an object"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a JSON value may be; `optional` if it may be null or left out.

    `of` is the class of an object, or the annotation of a list's elements.
    """

    kind: ShapeKind = ShapeKind.ANY
    optional: bool = False
    of: Any = None

    @property
    def fields(self) -> Mapping[str, Shape] | None:
        """The fields of an object; None if its class does not tell."""
        return None if self.kind is not ShapeKind.OBJECT or self.of is None else _fields(self.of)

    @property
    def element(self) -> Shape:
        """What a list holds."""
        return shape_of(self.of)


UNTYPED = Shape(optional=True)
"""It may be null."""
_SCALARS: Sequence[tuple[type, ShapeKind]] = (
    (bool, ShapeKind.BOOLEAN),
    (str, ShapeKind.TEXT),
    (date, ShapeKind.TEXT),
    (int, ShapeKind.NUMBER),
    (float, ShapeKind.NUMBER),
    (Decimal, ShapeKind.NUMBER),
)


def shape_of(annotation: Any) -> Shape:
    """The shape of a value that is annotated so."""
    match get_origin(annotation), get_args(annotation):
        case origin, (inner, *meta) if origin is Annotated:
            zoned = inner is datetime and any(getattr(each, "tz", None) is True for each in meta)
            return Shape(ShapeKind.INSTANT) if zoned else shape_of(inner)
        case origin, (inner,) if origin in {Required, NotRequired}:
            return replace(shape_of(inner), optional=origin is NotRequired)
        case origin, args if origin in {Union, UnionType}:
            return _union([shape_of(each) for each in args if each is not NoneType], optional=NoneType in args)
        case origin, values if origin is Literal:
            return _union([shape_of(type(each)) for each in values if each is not None], optional=None in values)
        case origin, args if isinstance(origin or annotation, type):
            return _of_class(origin or annotation, args)
    return UNTYPED


def shape_of_result(makers: Sequence[Callable[..., Any]]) -> Shape:
    """The shape of a result: what one of several functions returns, or a class itself, as far as annotations tell."""
    shapes = [shape_of(maker if isinstance(maker, type) else _hints(maker).get("return")) for maker in makers]
    return shapes[0] if shapes and all(each == shapes[0] for each in shapes) else UNTYPED


def _union(shapes: Sequence[Shape], *, optional: bool) -> Shape:
    same = len(shapes) > 0 and all(each == shapes[0] for each in shapes)
    found = shapes[0] if same else UNTYPED
    return replace(found, optional=found.optional or optional)


def _of_class(found: type, args: tuple[Any, ...]) -> Shape:
    for scalar, kind in _SCALARS:
        if issubclass(found, scalar):
            return Shape(kind)
    if is_typeddict(found) or is_dataclass(found) or hasattr(found, "__struct_fields__"):
        return Shape(ShapeKind.OBJECT, of=found)
    if issubclass(found, Mapping):
        return Shape(ShapeKind.OBJECT)
    return Shape(ShapeKind.LIST, of=args[0] if args else None) if issubclass(found, Sequence) else UNTYPED


@cache
def _fields(of: Any) -> Mapping[str, Shape]:
    hints = _hints(of)
    if is_typeddict(of):
        required = of.__required_keys__
    else:
        required = {name for name, given in inspect.signature(of).parameters.items() if given.default is given.empty}
    shapes = {key: (name, shape_of(hints.get(name))) for name, key in _keys(of).items()}
    return {
        key: replace(shape, optional=shape.optional or name not in required) for key, (name, shape) in shapes.items()
    }


def _keys(of: Any) -> Mapping[str, str]:
    """The key in JSON of each field."""
    if is_typeddict(of) or is_dataclass(of):
        names = sorted(of.__required_keys__ | of.__optional_keys__) if is_typeddict(of) else of.__dataclass_fields__
        return {name: name for name in names}
    return dict(zip(of.__struct_fields__, of.__struct_encode_fields__, strict=True))


def _hints(of: Any) -> Mapping[str, Any]:
    """The annotations; none, if they use a name that exists for the type checker only."""
    of = getattr(of, "__func__", of)  # a method has those of its function
    return _annotations(of) if isinstance(of, type) or inspect.isroutine(of) else {}


@cache
def _annotations(of: Any) -> Mapping[str, Any]:
    try:
        return get_type_hints(of, include_extras=True)
    except NameError:
        return {}
