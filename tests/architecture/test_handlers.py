import ast
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parents[2] / "functions"
HANDLERS = sorted(FUNCTIONS.glob("*.py"))
LONGEST_HANDLER_FILE = 40
NOT_IN_THE_BUNDLE = ("stepward.cli", "stepward.local", "stepward.testing", "stepward_cdk", "typer", "rich", "psutil")


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
