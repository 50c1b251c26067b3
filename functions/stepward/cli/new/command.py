"""`stepward new`: makes a project of the user's own, and updates it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from stepward.cli.deployment.options import reports_errors
from stepward.cli.new.rendering import TEMPLATE_IN_WHEEL, Answers, render
from stepward.cli.new.update import Outcome, update
from stepward.cli.terminal import complain, say, typed
from stepward.cli.user_error import UserError

Name = Annotated[str, typer.Argument(help="The name of the project and its application.", show_default=False)]
Folder = Annotated[
    Path | None, typer.Argument(help="An empty folder, or one to make.", show_default="NAME", file_okay=False)
]
Wheels = Annotated[
    Path | None,
    typer.Option(help="Install Stepward from the wheels in this folder.", exists=True, file_okay=False),
]
Update = Annotated[bool, typer.Option("--update", help="Bring the project here to the template of this engine.")]
MADE = """Made {name} in {folder}. Next:

  cd {folder}
  make test     # the workflow, in memory
  make demo     # on this machine, while services fail and an agent dies
  make local    # deploy it on this machine, and stay up

Your workflow is functions/{package}/workflow.py; README.md says what else is where."""
NO_WHEELS = """The project installs stepward {engine} from your package index, and PyPI does not have it yet.
If no index of yours has it, delete the project, and make it again with --wheels FOLDER.
In a clone of Stepward, `make dist` makes the wheels."""


@reports_errors
def new(name: Name = "", folder: Folder = None, *, wheels: Wheels = None, updates: Update = False) -> None:
    """Make a project of your own: a workflow of two steps, its test, its deployment. No code of the engine is copied.

    With --update, it merges what changed in the template since the project was made into the project's files. A file
    that both changed in the same place gets conflict markers, as by git.

    Example: stepward new bookings
    """
    try:
        import copier  # noqa: F401, PLC0415 - the extra `new`
    except ModuleNotFoundError:
        raise UserError("this command needs copier; install it with: pip install 'stepward[new]'") from None
    if bool(name) == updates:
        raise typer.BadParameter("give a name, such as `stepward new bookings`, or --update in a project's folder")
    if updates:
        _update(Path.cwd(), wheels)
    else:
        _make(Answers.given(name, wheels), folder or Path(name))


def _make(answers: Answers, folder: Path) -> None:
    if folder.exists() and any(path.name != ".git" for path in folder.iterdir()):
        raise UserError(f"{folder} is not empty; name another folder: {typed('new', answers.name, 'FOLDER')}")
    render(answers, folder)
    say(MADE.format(name=answers.name, folder=folder, package=answers.name.replace("-", "_")))
    if not answers.wheels:
        complain(NO_WHEELS.format(engine=answers.engine))


def _update(project: Path, wheels: Path | None) -> None:
    before = Answers.read(project)
    after = Answers(before.name, version("stepward"), str(wheels.absolute()) if wheels else before.wheels)
    if _git(project, "status", "--porcelain"):
        raise UserError("some files here are not committed; commit them, so that `git diff` shows what the update does")
    with tempfile.TemporaryDirectory(prefix="stepward-") as scratch:
        old, fresh = Path(scratch, "old"), Path(scratch, "new")
        render(before, old, _template_of(before, project, Path(scratch, "wheel")))
        render(after, fresh)
        outcomes = update(project, old, fresh)
    for file, outcome in outcomes.items():
        say(f"{outcome.value:9} {file}")
    if Outcome.CONFLICT in outcomes.values():
        raise UserError("a conflict is marked with <<<<<<< in its file: choose, then commit")
    say(f"The project has the template of Stepward {after.engine}. Look at `git diff`, type `make test`, and commit.")


def _template_of(answers: Answers, project: Path, target: Path) -> Path:
    """The template of the engine that made the project: it is in that engine's own wheel."""
    own = project / ".venv-tools" / "bin" / "uv"
    if not (uv := str(own) if own.exists() else shutil.which("uv")):
        raise UserError(
            "uv, which fetches the earlier template, is neither in .venv-tools/bin nor on PATH; type make env"
        )
    links = ["--find-links", answers.wheels] if answers.wheels else []
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--target", str(target), *links]
    done = subprocess.run(  # noqa: S603 - uv, and the version that the project names
        [*command, f"stepward=={answers.engine}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = f"{done.stderr.strip()}; if it is on no index, give --wheels with the folder of its wheel"
        raise UserError(f"stepward {answers.engine}, which made this project, cannot be fetched: {why}")
    return target / TEMPLATE_IN_WHEEL


def _git(project: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise UserError(f"the update needs the project in git: {done.stderr.strip()}; commit all of it, and try again")
    return done.stdout
