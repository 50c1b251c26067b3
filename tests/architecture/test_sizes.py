import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(file for top in ("functions", "infra", "tests", "docs") for file in (ROOT / top).rglob("*.py"))
LONGEST_FILE = 300
LONGEST_FUNCTION = 40
FULLEST_FOLDER = 14


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{node.name} has {lines} lines"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_files_and_functions_stay_short(file: Path) -> None:
    source = file.read_text()

    assert len(source.splitlines()) <= LONGEST_FILE
    assert list(long_functions(source)) == []


def test_a_long_function_is_found() -> None:
    body = "    pass\n" * LONGEST_FUNCTION

    assert list(long_functions(f"def short():\n    pass\n\n\ndef long():\n{body}")) == ["long has 41 lines"]


def test_a_folder_holds_about_a_dozen_files() -> None:
    folders = Counter(file.parent.relative_to(ROOT).as_posix() for file in FILES if file.name != "__init__.py")

    assert {folder: files for folder, files in folders.items() if files > FULLEST_FOLDER} == {}
