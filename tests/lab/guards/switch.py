"""Reads the guards of each guards.toml, and switches one off: its function gets the code of the changed source."""

import ast
import importlib
import inspect
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import stepward

TESTS = Path(__file__).parents[2]
FUNCTIONS = Path(stepward.__file__).parents[1]


class NoSuchPosition(Exception):
    """The text of a guard is not where the table says; say where it is now, or take the guard out."""


@dataclass(frozen=True, slots=True)
class Patch:
    """`text` stands once in `file`, below functions/, in one function; `instead` stands there with the guard off."""

    file: str
    text: str
    instead: str


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: what it protects, how it is switched off, and the tests that miss it."""

    name: str
    protects: str
    patch: Patch
    asks: tuple[str, ...]


def guards() -> list[Guard]:
    return [
        Guard(row["name"], row["protects"], Patch(file, row["text"], row["instead"]), tuple(row["asks"]))
        for table in sorted(TESTS.rglob("guards.toml"))
        for file, rows in tomllib.loads(table.read_text()).items()
        for row in rows
    ]


@contextmanager
def switched_off(patch: Patch) -> Iterator[None]:
    """Switch a guard off until the block ends, also for whoever imported its function before; raises NoSuchPosition."""
    source = (FUNCTIONS / patch.file).read_text()
    if (times := source.count(patch.text)) != 1:
        raise NoSuchPosition(f"{patch.file}: this stands there {times} times, not once: {patch.text!r}")
    name = enclosing(source, source.index(patch.text))
    if not name:
        raise NoSuchPosition(f"{patch.file}: this is in no function: {patch.text!r}")
    changed = compile(source.replace(patch.text, patch.instead), patch.file, "exec", dont_inherit=True)
    function = _function(patch.file.removesuffix(".py").replace("/", "."), name)
    whole = function.__code__
    function.__code__ = dict(_codes(changed))[name]
    try:
        yield
    finally:
        function.__code__ = whole


def enclosing(source: str, offset: int) -> str:
    """The qualified name of the outermost function, or method, around the offset; "" if there is none."""
    line = source.count("\n", 0, offset) + 1
    names: list[str] = []
    nodes: Sequence[ast.stmt] = ast.parse(source).body
    while node := next((node for node in nodes if node.lineno <= line <= (node.end_lineno or 0)), None):
        if isinstance(node, ast.FunctionDef):
            return ".".join([*names, node.name])
        if not isinstance(node, ast.ClassDef):
            return ""
        names.append(node.name)
        nodes = node.body
    return ""


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for found in (constant for constant in code.co_consts if isinstance(constant, CodeType)):
        yield found.co_qualname, found
        yield from _codes(found)


def _function(module: str, name: str) -> FunctionType:
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    for inside in ("fget", "func", "__func__"):  # of a property, of one that is cached, of a static or class method
        found = getattr(found, inside, found)
    found = inspect.unwrap(found) if callable(found) else found
    if not isinstance(found, FunctionType):
        raise NoSuchPosition(f"{module}.{name} is no function")
    return found
