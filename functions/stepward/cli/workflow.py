"""`stepward workflow`: draws the workflows of an application."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from stepward.cli.deployment.options import Named, application
from stepward.cli.terminal import complain, say
from stepward.domain.workflow.definition import Workflow
from stepward.domain.workflow.drawing import as_mermaid, as_text

app = typer.Typer(no_args_is_help=True)


class Format(StrEnum):
    """How a workflow is drawn."""

    TEXT = "text"
    MERMAID = "mermaid"


Drawing = Annotated[Format, typer.Option("--format", help="Text for a terminal, or a graph for Mermaid.")]
Name = Annotated[str, typer.Argument(help="The workflow.", show_default="every one")]


@app.callback()
def workflow() -> None:
    """Draw the workflows of an application."""


@app.command()
def show(name: Name = "", *, drawing: Drawing = Format.TEXT, app: Named = "") -> None:
    """Draw a workflow: its steps, who does and who undoes each, its limits and its policies.

    The command reads your code and uses no AWS account.

    Example: stepward workflow show fulfilment --format mermaid
    """
    workflows = {each.name: each for each in application(app).workflows}
    if name and name not in workflows:
        complain(f"no workflow {name!r}; choose {' or '.join(workflows)}")
        raise typer.Exit(2)
    chosen = [workflows[name]] if name else list(workflows.values())
    say("\n\n".join(as_mermaid(each.plan()) if drawing is Format.MERMAID else _text(each) for each in chosen))


def _text(workflow: Workflow) -> str:
    limits = "\n".join(f"{agent.name}: {agent.max_concurrency} calls at once" for agent in workflow.agents)
    return f"{as_text(workflow.plan())}\n{limits}"
