"""What the documents name is there, and every block of Python in them runs."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from typer.main import get_command

import stepward
from stepward.cli.main import app
from tests.architecture.test_samples import OF_THE_APPLICATION
from tests.unit.testing.test_kit_plugin import PLUGIN

ROOT = Path(__file__).parents[2]
PAGES = [page.relative_to(ROOT).as_posix() for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))]
TESTS_OF_IT = tuple(f"tests/{folder}" for folder in OF_THE_APPLICATION)
OF_THE_EXAMPLE = ("functions/orders/", "infra/environments/", "events/", *TESTS_OF_IT)
INDEXES = ("docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md")
ENGINE = ("app", "cli", "cli/orders", "domain/task", "domain/workflow")
BENEATH = ("", "docs", "functions", "functions/stepward", *(f"functions/stepward/{folder}" for folder in ENGINE))
SOURCES = [file for top in ("functions", "infra") for file in (ROOT / top).rglob("*.py")]
MODULES = {
    "bookings": "",
    "bookings.remote": "find = post = lambda *_, **__: {}",
    "clients": "bank = stock = type('Service', (), {'__getattr__': lambda self, name: lambda *_, **__: name})()\n",
    "operations": """
from clients import bank
from stepward import Agent

inventory, payments = Agent("inventory"), Agent("payments")


@inventory.operation
def reserve(call):
    return {}


@inventory.operation
def release(call):
    return {}


@payments.operation
def refund(call):
    return {}
""",
}
"""What the blocks of a page import that its reader has."""
DATA = re.compile(r"^```(json|toml)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
READERS: Mapping[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads}
FRAGMENTS = {
    "docs/retiring.md": """
from operations import *


@payments.operation
def charge(call): ...


@Agent("shipping").operation
def ship(call): ...
"""
}
"""What stands before a page's blocks that show a part only."""


def read(page: str) -> str:
    return (ROOT / page).read_text()


def quoted(page: str) -> list[str]:
    """What a page writes as code within its text."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", read(page), flags=re.DOTALL))


@cache
def names_in_code() -> frozenset[str]:
    """Each class and type alias, and each member of a class behind its name."""
    return frozenset(_names_in_code())


def _names_in_code() -> Iterator[str]:
    for node in (node for file in SOURCES for node in ast.parse(file.read_text()).body):
        yield from assigned(node)
        if isinstance(node, ast.ClassDef):
            yield node.name
            yield from (f"{node.name}.{name}" for each in node.body for name in assigned(each))


def assigned(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def links(page: str) -> list[str]:
    """The files to which a page links, from the top."""
    found = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page))
    return [os.path.normpath(Path(page).parent / link) for link in found]


def named(page: str) -> list[str]:
    """The files and folders that a page names."""
    return [name for name in quoted(page) if re.fullmatch(r"(functions|infra|tests|docs|events)/[\w./*-]*", name)]


def of_the_example(path: str) -> bool:
    """Whether it is the application's, so that the application's own tests hold the pages to it."""
    return f"{path.rstrip('/')}/".startswith(OF_THE_EXAMPLE)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_links_to_files_that_are_there(page: str) -> None:
    assert [link for link in links(page) if not (of_the_example(link) or (ROOT / link).exists())] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_paths_and_commands_that_are_there(page: str) -> None:
    commands = re.findall(r"(?:^(?:\$|  ) ?|`)stepward ([a-z][a-z-]*)", read(page), re.MULTILINE)

    assert [path for path in named(page) if not (of_the_example(path) or any(ROOT.glob(path.rstrip("/"))))] == []
    assert set(commands) - set(get_command(app).commands) == set()  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", INDEXES)
def test_a_page_that_says_where_things_are_names_files_and_classes_that_are_there(page: str) -> None:
    known, names = names_in_code(), [name for name in quoted(page) if name.upper() != name and "<" not in name]
    paths = [name for name in names if re.fullmatch(r"[a-z_.*-]+/[\w./*-]*|\w+\.(?:py|md|toml)", name)]
    classes = [name for name in names if re.fullmatch(r"[A-Z][A-Za-z]*[a-z](?:\.\w+)?", name)]

    missing = [name for name in paths if not any(any((ROOT / top).glob(name.rstrip("/"))) for top in BENEATH)]

    assert [name for name in missing if not of_the_example(name)] == []
    assert [name for name in classes if name not in known] == []


def walked(*, example: bool) -> list[tuple[str, str]]:
    """The files and the functions of the walks through the engine: those of the example, or all others."""
    steps = re.findall(r"^\| \d+ \| `(\S+)` \| `(?:\w+\.)?(\w+)`", read("docs/architecture.md"), re.MULTILINE)
    return [step for step in steps if of_the_example(step[0]) is example]


def lacking(steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The functions that their files do not define."""
    sources = {file: read(file if file.startswith("functions/") else f"functions/stepward/{file}") for file, _ in steps}
    return [step for step in steps if not re.search(rf"\b((def|class) {step[1]}\b|{step[1]} = )", sources[step[0]])]


def test_each_walk_through_the_engine_names_functions_of_its_files() -> None:
    assert (steps := walked(example=False))
    assert lacking(steps) == []


def test_every_block_of_data_can_be_read() -> None:
    found = [block for page in PAGES for block in DATA.findall(read(page))]

    for kind, text in found:
        for part in [text] if kind == "toml" else re.split(r"\n(?={)", text.strip()):
            READERS[kind](part)
    assert {kind for kind, _ in found} == set(READERS)


def blocks(page: str) -> str:
    """The Python of a page; the tutorial's is in files, which `make tutorial` runs."""
    found = re.findall(r"^( *)```python\n(.*?)^ *```", read(page), re.DOTALL | re.MULTILINE)
    return "\n\n".join(dedent(text) for _, text in found)


@pytest.mark.parametrize("page", [page for page in PAGES if "def test_" not in (it := blocks(page)) and it])
def test_every_block_of_a_page_without_tests_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in MODULES.items():
        exec(text, vars(module := ModuleType(name)))  # noqa: S102 - our own
        monkeypatch.setitem(sys.modules, name, module)
    known = {name: getattr(stepward, name) for name in stepward.__all__} if page in FRAGMENTS else {}

    exec(FRAGMENTS.get(page, "") + blocks(page), {"__name__": "documented", **known})  # noqa: S102


@pytest.mark.parametrize("page", [page for page in PAGES if "def test_" in blocks(page)])
def test_every_block_of_a_page_runs(page: str, tmp_path: Path) -> None:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "test_documented.py").write_text(blocks(page))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, str(tmp_path)]

    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 - our own

    assert f"{blocks(page).count('def test_')} passed" in made.stdout, made.stdout
    assert "failed" not in made.stdout


def test_each_behaviour_of_aws_names_a_file_and_a_test_that_are_there() -> None:
    """D4: what the code leans on has a page of AWS's and a test of ours."""
    rows = [line.strip("| ").split(" | ") for line in read("docs/aws.md").splitlines() if re.match(r"\| [A-Z]", line)]
    assert len(rows) > 20
    for behaviour, where, source, held in rows:
        file, _, test = held.strip("`").partition("::")
        assert (ROOT / where.strip("`")).is_file(), behaviour
        assert source, behaviour
        assert re.search(rf"^def {test}\(", read(file), re.MULTILINE), behaviour
