"""Compiles a bundle for the Python that runs this file, and the methods of the engine's dataclasses with it.

`@dataclass` writes and compiles the methods of a class each time a function starts. Here they are in the bytecode. The
sources stay as they are, and a class with something that this file does not know keeps its decorator.
"""

from __future__ import annotations

import ast
import compileall
import importlib.util
import marshal
import py_compile
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ENGINE = "stepward"
_UNCHECKED = 0b01  # of a .pyc: the hash of its source, which nobody compares
_OPTIONS = {"frozen", "slots", "eq", "kw_only"}
_FIELD_OPTIONS = {"default", "default_factory", "init", "repr", "compare", "hash"}
_FIELDLESS_BASES = {"Generic", "Mapping"}
_SHARED = ("__repr__", "__replace__")
_FROZEN = ("__setattr__", "__delattr__", "__getstate__", "__setstate__")


@dataclass(frozen=True)
class _Field:
    """One field, and what its source says to `field`, or says as its default."""

    name: str
    options: Mapping[str, ast.expr]
    call: str = ""

    @classmethod
    def of(cls, name: str, written: ast.expr | None) -> _Field:
        if isinstance(written, ast.Call) and ast.unparse(written.func) == "field":
            return cls(name, {each.arg or "": each.value for each in written.keywords}, ast.unparse(written))
        return cls(name, {"default": written} if written else {})

    def text(self, option: str) -> str:
        found = self.options.get(option)
        return ast.unparse(found) if found else ""

    def flag(self, option: str, *, otherwise: bool = True) -> bool:
        return {"True": True, "False": False}.get(self.text(option), otherwise)

    @property
    def is_known(self) -> bool:
        known = all(isinstance(self.options[each], ast.Constant) for each in self.options.keys() - _BY_REFERENCE)
        evaluated_late = not self.flag("init") and not isinstance(self.options.get("default", _CONSTANT), ast.Constant)
        return self.options.keys() <= _FIELD_OPTIONS and known and not evaluated_late and self.name != "self"

    @property
    def argument(self) -> str:
        """It as a parameter of `__init__`."""
        default = "_prepared.FACTORY" if self.text("default_factory") else self.text("default")
        return f"{self.name}={default}" if default else self.name

    @property
    def value(self) -> str:
        """What `__init__` sets it to; "" leaves it without a value."""
        made = f"({factory})()" if (factory := self.text("default_factory")) else ""
        if not self.flag("init"):
            return made or self.text("default")
        return f"{made} if {self.name} is _prepared.FACTORY else {self.name}" if made else self.name


_BY_REFERENCE = {"default", "default_factory"}
_CONSTANT = ast.Constant(None)


def compile_bundle(target: Path, deployed: str) -> None:
    """Compile all of `target`, which will be at `deployed`; the bytecode is never compared with its source."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(
        target, quiet=1, stripdir=str(target), prependdir=deployed, invalidation_mode=mode, workers=0
    )
    for source in sorted(target.glob(f"{ENGINE}/**/*.py")):
        text = source.read_bytes()
        if b"@dataclass" in text:
            code = compile(
                prepared(ast.parse(text)), f"{deployed}/{source.relative_to(target)}", "exec", dont_inherit=True
            )
            head = importlib.util.MAGIC_NUMBER + _UNCHECKED.to_bytes(4, "little") + importlib.util.source_hash(text)
            Path(importlib.util.cache_from_source(str(source))).write_bytes(head + marshal.dumps(code))


def prepared(module: ast.Module) -> ast.Module:
    """The module with the methods of its dataclasses written out; each is where the decorator was."""
    found: dict[str, _Class] = {}
    for node in module.body:
        if isinstance(node, ast.ClassDef) and (described := _Class.of(node, found)).is_known:
            found[node.name] = described
    for each in found.values():
        _prepare(each)
    if found:
        after = next(at for at, each in enumerate(module.body) if isinstance(each, ast.ImportFrom)) + 1
        module.body[after:after] = _placed(f"from {ENGINE} import prepared as _prepared", module.body[after - 1])
    return module


@dataclass(frozen=True)
class _Class:
    """A class that may be a dataclass, and the one of the same module that it derives from."""

    node: ast.ClassDef
    bases: set[str]
    base: _Class | None
    options: Mapping[str, bool]
    own: Sequence[_Field]

    @classmethod
    def of(cls, node: ast.ClassDef, known: Mapping[str, _Class]) -> _Class:
        bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
        base = known.get(*bases) if len(bases) == 1 else None
        is_one = [ast.unparse(each).partition("(")[0] for each in node.decorator_list] == ["dataclass"]
        return cls(node, bases, base, _options(node) if is_one else {}, _fields(node))

    @property
    def is_known(self) -> bool:
        """Whether it is a dataclass with slots, and all that it says is known here."""
        return (
            self.options.get("slots", False)
            and self.options.keys() <= _OPTIONS
            and (self.base.options == self.options if self.base else self.bases <= _FIELDLESS_BASES)
            and not self.node.keywords
            and "__init__" not in self.methods
            and all(each.is_known for each in self.own)
            and not any(special in ast.unparse(each) for each in self.node.body for special in ("InitVar", "KW_ONLY"))
        )

    @property
    def fields(self) -> Sequence[_Field]:
        """Those of its base and its own; one that it has again stands where the base has it."""
        inherited = {each.name: each for each in self.base.fields} if self.base else {}
        return list({**inherited, **{each.name: each for each in self.own}}.values())

    @property
    def slots(self) -> Sequence[str]:
        inherited = {each.name for each in self.base.fields} if self.base else set()
        return [each.name for each in self.own if each.name not in inherited]

    @property
    def methods(self) -> set[str]:
        return {each.name for each in self.node.body if isinstance(each, ast.FunctionDef)}

    @property
    def is_checked(self) -> bool:
        """Whether `__post_init__` has something to say."""
        return "__post_init__" in self.methods or (self.base is not None and self.base.is_checked)


def _options(node: ast.ClassDef) -> Mapping[str, bool]:
    decorator = node.decorator_list[0]
    given = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {each.arg or "": ast.literal_eval(each.value) for each in given}


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and not ast.unparse(statement.annotation).startswith("ClassVar[")


def _fields(node: ast.ClassDef) -> Sequence[_Field]:
    return [
        _Field.of(ast.unparse(each.target), each.value)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and _is_field(each)
    ]


def _prepare(described: _Class) -> None:
    node, written = described.node, list(_written(described))
    node.decorator_list = []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and _is_field(each):
            each.value = None  # or it would stand where the slot has to be
    for text in written:
        node.body += _placed(text, node)


def _placed(text: str, at: ast.stmt) -> list[ast.stmt]:
    """The statements of `text`, which tracebacks show at the first line of `at`."""
    body = ast.parse(text).body
    for each in (inner for statement in body for inner in ast.walk(statement)):
        if hasattr(each, "lineno"):
            each.lineno = each.end_lineno = at.lineno  # type: ignore[attr-defined]
            each.col_offset = each.end_col_offset = 0  # type: ignore[attr-defined]
    return body


def _written(described: _Class) -> Iterator[str]:
    """What `@dataclass` would add to the class, as statements of its body."""
    fields, options, methods = described.fields, described.options, described.methods
    arguments = [each for each in fields if each.flag("init")]
    yield f"__slots__ = {tuple(described.slots)!r}"
    yield f"__match_args__ = {() if options.get('kw_only') else tuple(each.name for each in arguments)!r}"
    yield _init(fields, arguments, options, calls=described.is_checked)
    if options.get("eq", True):
        yield from _comparing(fields, frozen=options.get("frozen", False), methods=methods)
    shared = "Frozen" if options.get("frozen") else "Shared"
    names = (*_SHARED, *(_FROZEN if options.get("frozen") else ()))
    yield from (f"{name} = _prepared.{shared}.{name}" for name in names if name not in methods)
    calls = ", ".join(f"{each.name!r}: {each.call}" for each in fields if each.call)
    yield f"__dataclass_fields__ = _prepared.Fields(lambda: {{{calls}}}, kw_only={options.get('kw_only', False)})"
    chosen = ", ".join(f"{name}={value}" for name, value in options.items())
    yield f"__dataclass_params__ = _prepared.Parameters({chosen})"


def _init(fields: Sequence[_Field], arguments: Sequence[_Field], options: Mapping[str, bool], *, calls: bool) -> str:
    taken = ["self", *(["*"] if options.get("kw_only") and arguments else []), *(each.argument for each in arguments)]
    put = "object.__setattr__(self, {!r}, {})" if options.get("frozen") else "self.{} = {}"
    lines = [put.format(each.name, value) for each in fields if (value := each.value)]
    return "\n    ".join([f"def __init__({', '.join(taken)}):", *lines, "self.__post_init__()" if calls else "pass"])


def _comparing(fields: Sequence[_Field], *, frozen: bool, methods: set[str]) -> Iterator[str]:
    compared = [each for each in fields if each.flag("compare")]
    hashed = [each for each in fields if each.flag("hash", otherwise=each.flag("compare"))]
    mine, others = (f"({''.join(f'{whose}.{each.name}, ' for each in compared)})" for whose in ("self", "other"))
    if "__eq__" not in methods:
        yield (
            "def __eq__(self, other):\n"
            f"    return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented"
        )
    if frozen and "__hash__" not in methods:
        yield f"def __hash__(self):\n    return hash(({''.join(f'self.{each.name}, ' for each in hashed)}))"


if __name__ == "__main__":
    compile_bundle(Path(sys.argv[1]), sys.argv[2])
