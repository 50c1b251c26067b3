import json
import subprocess
import sys
from pathlib import Path

import pytest

import stepward
from tests.architecture.test_handlers import FUNCTIONS, imports

APPLICATION = sorted(path for path in (FUNCTIONS / "orders").rglob("*.py") if "demo" not in path.parts)


def loaded_by(statement: str) -> list[str]:
    """Every module that a new interpreter loads for `statement`, the standard library's aside."""
    script = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(FUNCTIONS)!r}); {script}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    names: list[str] = json.loads(answer.stdout)
    return [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names and name != "__main__"]


def test_the_public_face_loads_nothing_by_itself() -> None:
    """S4: what a function does not use costs it no start-up."""
    assert loaded_by("import stepward") == ["stepward"]
    assert loaded_by("from stepward import Permanent") == ["stepward", "stepward.domain", "stepward.domain.errors"]


def test_each_public_name_is_there_and_no_other() -> None:
    for name in stepward.__all__:
        assert getattr(stepward, name) is not None
    assert dir(stepward) == sorted(stepward.__all__) == sorted(stepward._HOMES)
    with pytest.raises(AttributeError, match="stepward has no public name 'Task'; it has ALERT, UNDO, Agent, App"):
        _ = stepward.Task  # type: ignore[attr-defined]


@pytest.mark.parametrize("file", APPLICATION, ids=lambda file: file.name)
def test_the_application_imports_the_public_face_only(file: Path) -> None:
    engine = {name for name in imports(file.read_text()) if name.partition(".")[0] == "stepward"}
    assert engine <= {"stepward"}
