"""A project's application is found by its name, or an error says how to name it."""

import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from stepward.app_checks import unlisted_workflows
from stepward.domain.errors import Misconfigured, WorkflowError
from stepward.project import APP, Project

SOURCE = """
from stepward import Agent, App, Step, Workflow, minutes

def work(call): return {}

app = App("found", workflows=[Workflow("found", 1, [Step(Agent("one").operation(work), complete_within=minutes(1))])])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project that does not name its application; the test's imports are forgotten."""
    (tmp_path / "cdk.json").write_text("{}")
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "found_here.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path / "functions")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv(APP, raising=False)
    yield Project.here()
    sys.modules.pop("found_here", None)


def named(project: Project, settings: str) -> None:
    (project.root / "pyproject.toml").write_text(f"[tool.stepward]\n{settings}\n")


def test_pyproject_names_the_application_and_what_no_function_needs(project: Project) -> None:
    named(project, 'app = "found_here:app"\nnot-bundled = ["notes"]')
    (project.functions / "notes").mkdir()

    assert project.app().name == "found"
    assert project.not_bundled == ("notes",)


def test_the_environment_names_another(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    named(project, 'app = "nowhere:app"')
    monkeypatch.setenv(APP, "found_here")

    assert project.app().name == "found"


def test_a_project_that_names_none_says_how_to(project: Project) -> None:
    with pytest.raises(Misconfigured, match=r"\[tool.stepward\] app = .* or set STEPWARD_APP"):
        project.app()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('ap = "found_here"', "has 'ap', and takes app and not-bundled only"),
        ('not-bundled = "notes"', r"not-bundled = 'notes' is no list; write \['notes'\]"),
        ('not-bundled = ["notes"]', "not-bundled: there is no functions/notes; correct it"),
        ("app = ", "^pyproject.toml cannot be read: Invalid value"),
    ],
)
def test_what_pyproject_gets_wrong_is_named(project: Project, settings: str, says: str) -> None:
    named(project, settings)

    with pytest.raises(Misconfigured, match=says):
        assert project.not_bundled


MISSING = dict.fromkeys(
    ("nowhere:app", "found_here:nothing", ":app", "..:app"), r"no application .*, as \[tool.stepward\] app in pyproject"
)


@pytest.mark.parametrize(("name", "says"), [*MISSING.items(), ("json:loads", "is function, not an application")])
def test_what_is_not_there_or_no_application_is_refused(project: Project, name: str, says: str) -> None:
    named(project, f'app = "{name}"')

    with pytest.raises(Misconfigured, match=says):
        project.app()


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        ("return {}", "return {", SyntaxError, r"functions/found_here.py:4: SyntaxError: '{' was never closed"),
        ("def work", "works\ndef work", NameError, r"functions/found_here.py:4: NameError: name 'works'"),
        (
            "minutes\n",
            "minute\n",
            ImportError,
            r"functions/found_here.py:2: ImportError: cannot import name 'minute'.*; did you mean minutes\?",
        ),
        (
            ", complete_within=minutes(1)",
            "",
            WorkflowError,
            r"functions/found_here.py:6: workflow 'found', step 'work'",
        ),
        (
            '1, [Step(Agent("one").operation(work), complete_within=minutes(1))',
            """1, [
    Step(Agent("one").operation(work), name="first", complete_within=minutes(1)),
    *[Step({}) for _ in ()],
    Step(Agent("one").operation(work)),
""",
            WorkflowError,
            r"functions/found_here.py:9: workflow 'found', step 'work'",
        ),
        (
            "complete_within=minutes(1))",
            """complete_within=minutes(1)),
    Step(Agent("one").operation(work), complete_within=minutes(1))""",
            WorkflowError,
            r"functions/found_here.py:7: workflow 'found', step 'work': 2 steps have this name",
        ),
        (
            "complete_within=minutes(1))",
            """complete_within=minutes(1)),
    Step(Agent("one").operation(work), name="second", after=["third"], complete_within=minutes(1)),
    Step(Agent("one").operation(work), name="third", complete_within=minutes(1))""",
            WorkflowError,
            r"functions/found_here.py:7: workflow 'found', step 'second': waits for itself in a circle",
        ),
    ],
)
def test_a_mistake_in_the_projects_code_is_told_with_its_line(
    project: Project, old: str, new: str, error: type[Exception], says: str
) -> None:
    assert old in SOURCE
    (project.functions / "found_here.py").write_text(SOURCE.replace(old, new))
    named(project, 'app = "found_here"')

    with pytest.raises(WorkflowError if error is WorkflowError else Misconfigured, match=f"^{says}") as refused:
        project.app()
    assert isinstance(refused.value.__cause__, error)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("item: complex", "class Order: item: type <class 'complex'> is not supported; take str,"),
        ("item: object", "class Order: item: type <class 'object'> is not supported; take str,"),
        ("item: 'Item'", "class Order: name 'Item' is not defined; import it in the module of the class"),
        ("item = 'x'", "class Order: item has no type, so no message may have it; write item: str"),
        ("item: str | None = None; kinds: ClassVar = 'x'; Part = type('Part', (), {})", ""),
    ],
)
def test_a_class_that_no_message_fits_is_refused_with_its_line(project: Project, field: str, says: str) -> None:
    source = (
        f"from typing import ClassVar\nfrom stepward import OrderMessage\nclass Order(OrderMessage):\n    {field}\n"
    )
    (project.functions / "found_here.py").write_text(source + SOURCE.replace("1, [", "1, order=Order, steps=["))
    named(project, 'app = "found_here"')

    with pytest.raises(WorkflowError) if says else nullcontext() as refused:
        project.app()
    assert not refused or re.match(r"functions/found_here.py:\d+: " + re.escape(says), str(refused.value))


def test_a_part_made_with_wrong_arguments_says_which_it_takes(project: Project) -> None:
    (project.functions / "found_here.py").write_text(SOURCE.replace("complete_within", "within"))
    named(project, 'app = "found_here"')

    with pytest.raises(Misconfigured, match=r"found_here.py:6: TypeError: .*'within'; Step takes operation, undo, "):
        project.app()


def test_a_workflow_that_the_application_does_not_list_is_noticed_once(project: Project) -> None:
    steps = "[Step(Agent('two').operation(work), complete_within=minutes(1))]"
    (project.functions / "found_here.py").write_text(f"{SOURCE}extra = again = Workflow('extra', 1, {steps})\n")
    named(project, 'app = "found_here"')

    (notice,) = unlisted_workflows(project.app(), project.functions)
    assert notice.startswith("functions/found_here.py: app 'found' does not list workflow 'extra'; add it to workflows")


def test_outside_of_any_project_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")

    with pytest.raises(Misconfigured, match="change into your project"):
        Project.here()
