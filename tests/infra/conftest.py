"""The templates: synthesised once for the whole test session, whatever the number of its workers."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.sample import PROJECT
from tests.infra.template import Template


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the synthesised app."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    out = shared / "infra-app"
    with (shared / "infra-app.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "done").exists():
            command = [sys.executable, "-m", "tests.infra.app", str(out)]
            subprocess.run(command, cwd=PROJECT.root, check=True)  # noqa: S603 - our own module
            (out / "done").touch()
    return out / "cdk.out"


def _template_of(stack: str) -> Callable[[Path], Template]:
    def synthesised(assembly: Path) -> Template:
        return Template(json.loads((assembly / f"{stack}.template.json").read_text()))

    return pytest.fixture(scope="session")(synthesised)


template, production = _template_of("Development"), _template_of("Production")
replicated, restored = _template_of("Replicated"), _template_of("Restored")
wide, lean = _template_of("Wide"), _template_of("Lean")
