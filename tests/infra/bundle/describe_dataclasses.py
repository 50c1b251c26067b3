"""Describes all that can be seen of the engine's dataclasses: run by two tests on the sources, and on a bundle."""

import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import Any

OWN = ("__eq__", "__hash__", "__init__", "__repr__", "__setattr__", "__delattr__", "__getstate__", "__setstate__")
LEFT_OUT = ("cli", "console", "local", "operator", "testing", "project")
FIELD = ("name", "type", "init", "repr", "hash", "compare", "kw_only", "metadata")


def instance(cls: Any) -> Any:
    """One with text in every field, made without its own checks."""
    made = object.__new__(cls)
    for each in dataclasses.fields(cls):
        object.__setattr__(made, each.name, f"any {each.name}")
    return made


def changed(cls: Any, name: str) -> Any:
    other = instance(cls)
    object.__setattr__(other, name, "other")
    return other


def taken(cls: Any) -> list[Any]:
    """The arguments of its constructor; a factory is shown alike."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())
    factories = {each.name for each in dataclasses.fields(cls) if each.default_factory is not dataclasses.MISSING}
    return [(it.name, str(it.kind), "made" if it.name in factories else shown(it.default)) for it in parameters]


def shown(value: object) -> str:
    """Its text, without addresses, and without the function that a lambda is in."""
    return re.sub(r" at 0x\w+|__init__\.<locals>\.", "", repr(value))


def outcome(act: Callable[..., object], *arguments: object) -> str:
    """What it answers or raises, as text."""
    try:
        return shown(act(*arguments))
    except Exception as error:  # noqa: BLE001 - whatever it is, both have to raise the same
        return shown(error)


def field(each: Any) -> list[str]:
    """What is known of a field."""
    return [shown(getattr(each, name)) for name in FIELD] + [shown(each.default), shown(each.default_factory)]


def behaviour(cls: Any) -> dict[str, Any]:
    """What its instances do."""
    one, names = instance(cls), [each.name for each in dataclasses.fields(cls)]
    return {
        "repr": outcome(repr, one),
        "equal": [outcome(one.__eq__, other) for other in (one, instance(cls), object())],
        "told apart by": [name for name in names if outcome(one.__eq__, changed(cls, name)) != "True"],
        "hashed": [outcome(lambda name: hash(one) == hash(changed(cls, name)), name) for name in names],
        "set": [outcome(setattr, instance(cls), name, 1) for name in names],
        "delete": [outcome(delattr, instance(cls), name) for name in names],
        "copied": outcome(copy.copy, one),
        "pickled": outcome(lambda: pickle.loads(pickle.dumps(one))),  # noqa: S301 - our own
        "replaced": [outcome(lambda name: dataclasses.replace(one, **{name: "new"}), name) for name in names],
        "too few": outcome(cls),
        "matched": cls.__match_args__,
    }


def description(cls: Any) -> dict[str, Any]:
    return {
        "taken": taken(cls),
        "fields": [field(each) for each in dataclasses.fields(cls)],
        "parameters": repr(cls.__dataclass_params__),
        "slots": vars(cls).get("__slots__"),
        "own": [name for name in OWN if vars(cls).get(name)],
        **behaviour(cls),
    }


def generated(cls: Any) -> bool:
    """Whether its constructor comes from a file, and not from text that was compiled at its start."""
    return not cls.__init__.__code__.co_filename.startswith("<")


def everything() -> dict[str, Any]:
    """Each dataclass of the modules that a function may load."""
    import stepward  # noqa: PLC0415 - the one that is first on the path

    found: dict[str, Any] = {}
    beforehand = 0
    for module in sorted(each.name for each in pkgutil.walk_packages(stepward.__path__, "stepward.")):
        if module.split(".")[1] not in LEFT_OUT:
            for cls in vars(importlib.import_module(module)).values():
                if isinstance(cls, type) and cls.__module__ == module and "__dataclass_fields__" in vars(cls):
                    found[f"{module}.{cls.__qualname__}"] = description(cls)
                    beforehand += generated(cls)
    return {"beforehand": beforehand, "classes": found}


if __name__ == "__main__":
    sys.path[:0] = sys.argv[1:]
    json.dump(everything(), sys.stdout)
