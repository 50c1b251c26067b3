"""The dataclasses of a bundle, whose methods are compiled with it, do what those of the sources do."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stepward_cdk.functions import compiling
from stepward_cdk.functions.bundling import bundle
from tests.infra.bundle.describe_dataclasses import description
from tests.infra.sample import PROJECT

DESCRIBE = Path(__file__).with_name("describe_dataclasses.py")
LEFT_ALONE = 5
"""How many may keep their decorator: those without slots."""
DERIVED = """
from __future__ import annotations
from dataclasses import dataclass, field

@dataclass(frozen=True, slots=True)
class First:
    a: str
    b: str = "base"
    c: list[str] = field(default_factory=list, compare=False)
    def __post_init__(self): self.c.append(self.a)

@dataclass(frozen=True, slots=True)
class Second(First):
    b: str = "derived"
    d: str = "own"

@dataclass(frozen=True, slots=True)
class Third(Second):
    a: str = "given"
"""


def test_every_dataclass_of_the_bundle_behaves_as_its_source_does() -> None:
    """S4: the same arguments, fields, equality, hash and text; frozen, copied, pickled and replaced alike."""
    made = bundle("local", PROJECT).path
    source, bundled = described(PROJECT.functions, made), described(made)
    assert bundled["classes"].keys() == source["classes"].keys()
    for name, seen in source["classes"].items():
        assert bundled["classes"][name] == seen, name
    assert source["beforehand"] == 0
    assert bundled["beforehand"] >= len(bundled["classes"]) - LEFT_ALONE


@pytest.mark.parametrize("name", ["First", "Second", "Third"])
def test_a_class_that_derives_from_another_is_prepared_as_python_would_make_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4: a field that it has again keeps its place, and the checks of its base are its own."""
    plain, made = (vars(module) for module in (ModuleType("derived"), ModuleType("derived")))
    monkeypatch.setitem(sys.modules, "derived", ModuleType("derived"))  # dataclasses looks its module up
    exec(DERIVED, plain)  # noqa: S102 - the text above
    exec(compile(compiling.prepared(ast.parse(DERIVED)), "made", "exec"), made)  # noqa: S102
    told = [description(each[name]) | {"made": repr(each[name](a="one"))} for each in (plain, made)]
    assert told[0] == told[1]
    assert made[name].__init__.__code__.co_filename == "made"


@pytest.mark.parametrize(
    "text",
    [
        "@dataclass\nclass A:\n    a: int",
        "@dataclass(slots=True, order=True)\nclass A:\n    a: int",
        "@dataclass(slots=True)\nclass A(B):\n    a: int",
        "@dataclass(slots=True)\nclass A(B, C):\n    a: int",
        "@dataclass(slots=True)\nclass A(metaclass=M):\n    a: int",
        "@final\n@dataclass(slots=True)\nclass A:\n    a: int",
        "@dataclass(slots=True)\nclass A:\n    a: int = field(metadata=B)",
        "@dataclass(slots=True)\nclass A:\n    a: int = field(kw_only=True)",
        "@dataclass(slots=True)\nclass A:\n    a: int = field(init=False, default=made())",
        "@dataclass(slots=True)\nclass A:\n    a: InitVar[int]",
        "@dataclass(slots=True)\nclass A:\n    _: KW_ONLY\n    a: int",
        "@dataclass(slots=True)\nclass A:\n    a: int\n    def __init__(self): ...",
    ],
)
def test_a_class_that_is_not_understood_keeps_its_decorator(text: str) -> None:
    """S4: slower, and right."""
    assert ast.unparse(compiling.prepared(ast.parse(text))) == ast.unparse(ast.parse(text))


@pytest.mark.lab
@pytest.mark.long
def test_the_domain_passes_its_tests_as_it_is_bundled(tmp_path: Path) -> None:
    """S4: the same tests, on the bytecode that is deployed."""
    code = tmp_path / "functions"
    shutil.copytree(PROJECT.functions, code, ignore=shutil.ignore_patterns("__pycache__"))
    compiling.compile_bundle(code, str(code))
    rooms = ("task", "steps", "undo", "convoy", "coordination", "wire", "engine")
    where = [str(PROJECT.root / "tests" / "unit" / room) for room in rooms]
    options = ["-p", "no:cacheprovider", "-o", f"pythonpath={code} infra .", f"--rootdir={PROJECT.root}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (code, PROJECT.root / "infra", PROJECT.root)))}
    command = [sys.executable, "-m", "pytest", "-q", *options, *where]
    done = subprocess.run(command, cwd=PROJECT.root, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout


def described(*paths: Path) -> dict[str, Any]:
    """What is seen of the engine that is first on `paths`."""
    command = [sys.executable, "-I", "-S", "-B", str(DESCRIBE), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told
