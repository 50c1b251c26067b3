"""L5: whoever forks the repository and replaces the application has no failures in the engine's tests."""

from pathlib import Path

import pytest

from tests.lab.fork.forking import environment, fork
from tests.lab.wheels.building import run

FAST = ("tests/architecture", "tests/infra/settings", "tests/integration/handlers", "tests/unit")


@pytest.mark.lab
@pytest.mark.long
def test_the_tests_of_the_engine_pass_with_another_application(tmp_path: Path) -> None:
    project = tmp_path / "fork"
    fork(project, tmp_path / "made")
    python = environment(project)

    every = run([str(python), "-m", "pytest", "--collect-only", "tests"], project)
    assert "tests/integration/handlers/test_convoy.py::" in every
    assert "tests/unit/orders" not in every
    run([str(python), "-m", "pytest", *FAST], project)
