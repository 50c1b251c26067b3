"""Renders the template of a project."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from stepward.cli.user_error import UserError
from stepward.domain.errors import WorkflowError
from stepward.domain.workflow.agents import check_name
from stepward.local.server import MINISTACK

ANSWERS = ".copier-answers.yml"
TEMPLATE = Path(__file__).parent / "template"
TEMPLATE_IN_WHEEL = Path("stepward", "cli", "new", "template")
_TAKEN = {
    *("agent", "convoy", "ledger", "scheduler", "submission", "supervisor"),  # the files beside the package
    *("stepward", "stepward_cdk", "tests", "conftest", "functions", "infra", "msgspec", "boto3", "urllib3"),
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a project's files are made from."""

    name: str
    engine: str
    wheels: str = ""

    @classmethod
    def given(cls, name: str, wheels: Path | None) -> Answers:
        """The answers for a new project; raises UserError for a name that no package or stack can have."""
        package = name.replace("-", "_")
        try:
            check_name(repr(name), name)
        except WorkflowError as error:
            raise UserError(str(error)) from error
        if package in _TAKEN or package in sys.stdlib_module_names or keyword.iskeyword(package):
            raise UserError(f"{name!r} is the name of a module that Python or the project needs; choose another one")
        if wheels and not list(wheels.glob("stepward-*.whl")):
            raise UserError(f"--wheels {wheels}: there is no stepward-*.whl; name the folder that holds both wheels")
        return cls(name, version("stepward"), str(wheels.absolute()) if wheels else "")

    @classmethod
    def read(cls, project: Path) -> Answers:
        """What an earlier `stepward new` wrote down in `project`; raises UserError."""
        file = project / ANSWERS
        if not file.is_file():
            raise UserError(f"there is no {ANSWERS} here; type this in a project that `stepward new` made")
        found = dict(re.findall(r'^(\w+): "?([^"\n]*)"?$', file.read_text(), re.MULTILINE))
        try:
            return cls(found["name"], found["engine"], found["wheels"])
        except KeyError as lacking:
            raise UserError(f"{ANSWERS} lacks {lacking}; restore it with git") from None


def render(answers: Answers, target: Path, template: Path = TEMPLATE) -> None:
    """Write the files of `template` into the folder `target`."""
    from copier import run_copy  # noqa: PLC0415 - the extra `new`, which no other command needs

    data = {
        "name": answers.name,
        "package": answers.name.replace("-", "_"),
        "engine": answers.engine,
        "cloud": MINISTACK,
        "wheels": answers.wheels,
    }
    run_copy(str(template), target, data=data, defaults=True, overwrite=True, quiet=True)


def files_of(folder: Path) -> Iterator[Path]:
    """The files below `folder`, relative to it, in a fixed order."""
    return (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
