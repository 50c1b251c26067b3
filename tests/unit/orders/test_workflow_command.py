from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orders import app as application
from orders.fulfilment import fulfilment
from stepward.cli.main import app
from stepward.domain.workflow.definition import Workflow
from stepward.domain.workflow.drawing import as_mermaid, as_text

DOCS = Path(__file__).parents[3] / "docs"


def show(*words: str) -> Result:
    return CliRunner().invoke(app, ["workflow", "show", *words])


@pytest.mark.parametrize("named", [(), ("fulfilment",)])
def test_it_draws_the_workflow_and_says_how_many_calls_run_at_once(named: tuple[str, ...]) -> None:
    assert show(*named).stdout.startswith(f"{as_text(fulfilment.plan())}\ninventory: 20 calls at once\n")


@pytest.mark.parametrize("workflow", application.workflows, ids=lambda each: each.name)
def test_its_graph_is_the_one_in_the_docs(workflow: Workflow) -> None:
    """If it differs, paste what `stepward workflow show NAME --format mermaid` prints."""
    printed = show(workflow.name, "--format", "mermaid").stdout

    assert printed == as_mermaid(workflow.plan()) + "\n"
    assert f"```mermaid\n{printed}```" in (DOCS / "architecture.md").read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["fulfillment"], "no workflow 'fulfillment'; choose fulfilment or returns"),
        (["--app", "nowhere:app"], "no application 'nowhere:app'"),
        (["--format", "svg"], "'svg' is not one of"),
    ],
)
def test_what_it_cannot_draw_is_refused(words: list[str], complaint: str) -> None:
    answer = show(*words)

    assert answer.exit_code == 2
    assert complaint in answer.stderr
