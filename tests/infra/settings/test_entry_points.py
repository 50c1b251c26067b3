"""Synthesis imports what Lambda will import, so that what cannot work there is never deployed."""

import shutil
from pathlib import Path

import pytest

from stepward.domain.errors import Misconfigured
from stepward.project import Project
from stepward_cdk.functions.entry_points import ENTRY_POINTS, check_entry_points
from tests.infra.sample import PROJECT
from tests.infra.template import Template


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "functions").mkdir()
    for file in PROJECT.functions.glob("*.py"):
        shutil.copy(file, tmp_path / "functions")
    return Project(tmp_path)


def test_every_function_has_an_entry_point_that_is_imported(project: Project, template: Template) -> None:
    check_entry_points(project)

    handlers = {each["Handler"] for each in template.properties("Lambda::Function").values()}
    assert {f"{name}.handler" for name in ENTRY_POINTS} == handlers


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("agent", "from stepward.project import Nothing\n", r"^functions/agent.py:1: ImportError: .*'Nothing'"),
        ("ledger", "handle = print\n", r"^functions/ledger.py has no function `handler`.* `handler = ledger\(app\)`"),
        ("supervisor", None, r"^functions/supervisor.py, which Lambda imports, is missing.* = supervisor\(\)`"),
        ("convoy", "handler = 1 / 0\n", r"^functions/convoy.py:1: ZeroDivisionError"),
    ],
)
def test_what_lambda_could_not_import_stops_the_synthesis(
    project: Project, name: str, text: str | None, says: str
) -> None:
    file = project.functions / f"{name}.py"
    file.unlink()
    if text:
        file.write_text(text)

    with pytest.raises(Misconfigured, match=says):
        check_entry_points(project)
