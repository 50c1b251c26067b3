"""The files that Lambda imports: synthesis imports each of them, so that a missing name stops there."""

from __future__ import annotations

from runpy import run_path

from stepward.domain.errors import Misconfigured
from stepward.project import Project

_OF_THE_APP = {"submission", "agent", "ledger", "convoy"}
ENTRY_POINTS = (*sorted(_OF_THE_APP), "scheduler", "supervisor")


def check_entry_points(project: Project) -> None:
    """Import the file of each function as Lambda will; raises Misconfigured with file and line."""
    for name in ENTRY_POINTS:
        file = project.functions / f"{name}.py"
        app = "app" if name in _OF_THE_APP else ""
        write = f"write `from stepward.wiring.{name} import {name}` and `handler = {name}({app})`"
        if not file.is_file():
            raise Misconfigured(f"functions/{file.name}, which Lambda imports, is missing; make it: {write}")
        with project.explained(f"functions/{file.name}"):
            handler = run_path(str(file)).get("handler")
        if not callable(handler):
            raise Misconfigured(f"functions/{file.name} has no function `handler`, which Lambda calls; {write}")
