import ast
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.lab.benchmarks.startup import ENVIRONMENT

FUNCTIONS = Path(__file__).parents[2] / "functions"
SETTINGS = tomllib.loads((FUNCTIONS.parent / "pyproject.toml").read_text())["tool"]["stepward"]
APPLICATION = SETTINGS["app"].partition(":")[0]
HANDLERS = sorted(FUNCTIONS.glob("*.py"))
LONGEST_HANDLER_FILE = 6
NOT_IN_THE_BUNDLE = (
    "stepward.cli",
    "stepward.local",
    "stepward.operator",
    "stepward.testing",
    "stepward_cdk",
    "typer",
    "rich",
    "psutil",
)


def imports(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


@pytest.mark.parametrize("file", HANDLERS, ids=lambda file: file.name)
def test_a_lambda_file_is_short_and_imports_what_the_bundle_holds(file: Path) -> None:
    source = file.read_text()

    assert len(source.splitlines()) <= LONGEST_HANDLER_FILE
    assert [name for name in imports(source) if name.startswith(NOT_IN_THE_BUNDLE)] == []


def test_every_lambda_file_is_looked_at() -> None:
    assert {file.stem for file in HANDLERS} >= {"submission", "scheduler", "agent", "supervisor"}


def test_imports_are_found_wherever_they_stand() -> None:
    assert imports("import a.b\ndef f():\n    from c.d import e\n") == {"a.b", "c.d"}


@pytest.mark.parametrize("file", HANDLERS, ids=lambda file: file.name)
def test_a_lambda_file_is_a_handler_that_wires_itself_later(file: Path) -> None:
    """S4: at import there is no environment to rely on; and only what serves an application loads it."""
    tree = ast.parse(file.read_text())
    assert [type(node) for node in tree.body if not isinstance(node, ast.ImportFrom)] == [ast.Expr, ast.Assign]
    assert (APPLICATION in imports(file.read_text())) == (file.stem not in {"scheduler", "supervisor"})
    assert "worker" not in vars(import_module(file.stem).handler)


def test_what_a_function_loads_it_loads_before_its_first_event() -> None:
    """S4: Lambda starts a process with more power than it gives to an event; each starts as a copy of a warm one."""
    names = [file.stem for file in HANDLERS]
    script = f"""
import importlib, os, sys
import botocore.session, msgspec, pynamodb.models, aws_lambda_powertools.logging
for name in {names}:
    if not os.fork():
        handler = importlib.import_module(name).handler
        before = set(sys.modules)
        assert handler.worker
        late = [each for each in set(sys.modules) - before if each.partition(".")[0] in ("stepward", {APPLICATION!r})]
        print(name, *sorted(late), flush=True)
        os._exit(0)
    os.wait()
"""
    env = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(FUNCTIONS)}
    told = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)  # noqa: S603
    assert told.stdout.splitlines() == names
