"""`stepward new` makes a project that is the user's own, and brings it to the template of a newer engine."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.testing import CliRunner

from stepward import App
from stepward.cli.main import app
from stepward.cli.new.rendering import ANSWERS, TEMPLATE, Answers, files_of, render
from stepward.cli.new.update import Outcome, update
from stepward.cli.user_error import UserError
from stepward.local.server import MINISTACK
from stepward.local.services import Services
from stepward.project import Project
from stepward.service_urls import ADDRESSES
from stepward.testing import Engine, Service
from stepward_cdk.settings.agent_needs import check_addresses
from stepward_cdk.settings.chosen import in_file
from tests.unit.testing.test_kit_plugin import PLUGIN

ROOT = Path(__file__).parents[3]
ANSWERED = Answers("trip-bookings", "1.2.3")
OWN = Path("functions/trip_bookings/workflow.py")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "trip-bookings"
    render(ANSWERED, folder)
    return folder


def changed(template: Path, file: str, old: str, new: str) -> None:
    text = (template / file).read_text()
    assert old in text
    (template / file).write_text(text.replace(old, new))


def test_a_new_project_tests_itself_and_its_settings_fit_its_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render(ANSWERED, project := tmp_path / "trip-bookings")
    monkeypatch.syspath_prepend(project / "functions")
    made = Project(project).app()
    check_addresses(made, in_file(Project(project).environment("dev")).service_urls)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *PLUGIN]

    tested = subprocess.run(command, capture_output=True, text=True, check=False, cwd=project)  # noqa: S603 - our own

    assert made.name == "trip-bookings"
    assert "5 passed" in tested.stdout, tested.stdout + tested.stderr


@pytest.mark.parametrize("trouble", [Service.dies_before_effect, Service.dies_after_effect])
def test_the_service_without_keys_that_the_docs_show_has_its_effect_once(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Callable[[Service], object]
) -> None:
    """W7: with the project's own client, and a stand-in that answers {} if there is no effect."""
    page = (ROOT / "docs" / "service-contract.md").read_text()
    shown: dict[str, Any] = {}
    monkeypatch.syspath_prepend(project / "functions")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    exec(block.replace("bookings.remote", "trip_bookings.remote"), shown)  # noqa: S102 - our own
    with (
        Services(tmp_path / "ledger.db", honour_keys=False) as services,
        Engine(App("trips", workflows=[shown["trip"]])) as engine,
    ):
        monkeypatch.setenv(ADDRESSES, json.dumps({"taxi": services.url("taxi")}))
        trouble(engine.service(shown["book_taxi"]))
        order = engine.submit(shown["trip"], {})
        engine.run()

        assert (order.state, len(services.ledger.effects())) == ("Processed", 1)


def test_a_new_project_holds_no_code_of_the_engine_and_names_its_version_once(project: Path) -> None:
    written = (file for file in files_of(project) if "__pycache__" not in file.parts)
    texts = {str(file): (project / file).read_text() for file in written}

    assert [file for file, text in texts.items() if "{{" in text or "class App" in text] == []
    assert [file for file, text in texts.items() if "1.2.3" in text] == [ANSWERS, "pyproject.toml"]
    assert texts["pyproject.toml"].count("1.2.3") == 1
    assert texts["cdk.json"] == (ROOT / "cdk.json").read_text()


def test_a_new_project_pins_the_tools_that_are_pinned_here(project: Path) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    makefile = (project / "Makefile").read_text()
    (command,) = re.findall(r"^CDK := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert groups["local"] == [MINISTACK]
    assert all(f" {pin}\n" in makefile for pin in (*groups["uv"], MINISTACK, command))


@pytest.mark.parametrize(
    ("folder", "words", "stack"), [(None, [], "--local"), (None, ["ENV=dev"], "--env dev"), (ROOT, [], "--local")]
)
def test_make_console_installs_what_the_console_needs_and_opens_it(
    project: Path, folder: Path | None, words: list[str], stack: str
) -> None:
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", "console", *words]
    typed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder or project)  # noqa: S603

    assert typed.stdout.splitlines()[-1] == f".venv/bin/stepward console {stack}"
    assert folder or "pyproject.toml 'stepward[console]'" in typed.stdout


def test_a_new_project_is_tested_on_github_and_deployed_by_the_job_of_the_docs(project: Path) -> None:
    recipe = (project / ".github" / "workflows" / "test.yml").read_text()
    (job,) = re.findall(r"^```yaml.*?\n(.*?)^```", (ROOT / "docs" / "github.md").read_text(), re.DOTALL | re.MULTILINE)

    jobs = yaml.safe_load(recipe + job)["jobs"]

    assert jobs["deploy"]["needs"] == "test"
    assert [each["steps"][-1]["run"].split(" ENV=")[0] for each in jobs.values()] == [
        "make check test synth",
        "make deploy",
    ]


@pytest.mark.parametrize("name", ["Trips", "1st", "json", "class", "agent", "stepward", "a" * 31, "../out"])
def test_a_name_that_no_package_can_have_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="name"):
        Answers.given(name, None)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["trips", "."], 1, "is not empty; name another folder: stepward new trips FOLDER"),
        ([], 2, "give a name"),
        (["trips", "--update"], 2, "give a name"),
        (["--update"], 1, f"there is no {ANSWERS} here"),
        (["trips", "new", "--wheels", "."], 1, "there is no stepward-*.whl"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_to_type(
    words: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")

    refused = CliRunner().invoke(app, ["new", *words])

    assert (refused.exit_code, says in " ".join(re.sub(r"[│\n]", " ", refused.output).split())) == (code, True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_project_without_wheels_says_what_it_installs_from(tmp_path: Path) -> None:
    (tmp_path / "stepward-1.0-py3-none-any.whl").touch()
    warned, silent = (
        CliRunner().invoke(app, ["new", "trips", str(tmp_path / name), *given]).stderr
        for name, given in (("one", []), ("two", ["--wheels", str(tmp_path)]))
    )

    assert "make it again with --wheels FOLDER" in warned
    assert silent == ""


def test_an_update_merges_what_changed_in_the_template_with_what_changed_in_the_project(
    project: Path, tmp_path: Path
) -> None:
    mine, old, fresh, template = (tmp_path / name for name in ("mine", "old", "fresh", "template"))
    for source, target in ((project, mine), (TEMPLATE, template)):
        subprocess.run(["cp", "-r", str(source), str(target)], check=True)  # noqa: S603, S607
    changed(template, "README.md.jinja", "make demo", "make show")
    changed(template, "Makefile.jinja", "lint and types", "types and lint")
    changed(template, "pyproject.toml.jinja", "strict = true", "strict = false")
    (template / "infra" / "watch.txt").write_text("new")
    (template / "events" / "order.json").unlink()
    for folder, answers, of in ((old, ANSWERED, TEMPLATE), (fresh, replace(ANSWERED, engine="2.0.0"), template)):
        render(answers, folder, of)
    changed(mine, "Makefile", "test the workflow in memory", "test my workflow")
    changed(mine, "pyproject.toml", "strict = true", "strict = true # mine")
    changed(mine, str(OWN), "minutes(1)", "minutes(2)")

    outcomes = update(mine, old, fresh)

    assert {str(file): outcome for file, outcome in outcomes.items()} == {
        ANSWERS: Outcome.UPDATED,
        "Makefile": Outcome.MERGED,
        "README.md": Outcome.UPDATED,
        "events/order.json": Outcome.REMOVED,
        "infra/watch.txt": Outcome.ADDED,
        "pyproject.toml": Outcome.CONFLICT,
    }
    assert "<<<<<<< your project" in (mine / "pyproject.toml").read_text()
    assert all(text in (mine / "Makefile").read_text() for text in ("types and lint", "test my workflow"))
    assert Answers.read(mine) == replace(ANSWERED, engine="2.0.0")
