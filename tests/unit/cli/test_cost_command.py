import json

import pytest
from typer.testing import CliRunner, Result

from stepward.cli.main import app


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["cost", *words])


def test_it_prices_the_workflow_that_the_module_holds() -> None:
    answer = run("--json")

    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["steps"] == 3


@pytest.mark.parametrize(("workflow", "steps"), [("returns", 1), ("sample", 3), ("", 3)])
def test_it_prices_one_of_several_workflows(workflow: str, steps: int) -> None:
    """W1: by default the default one."""
    answer = run("--json", "--app", "tests.infra.sample:application", "--workflow", workflow)
    assert json.loads(answer.stdout)["steps"] == steps


def test_its_json_names_every_assumption_and_the_source_of_every_price() -> None:
    printed = json.loads(run("--json", "--orders", "1000", "--batch", "1", "--operation-ms", "150").stdout)

    assert printed["assumptions"]["operation_ms"] == 150
    used = {line["price"] for line in (*printed["perOrder"], *printed["perMonth"], *printed["storage"])}
    assert used <= printed["prices"].keys()
    month = sum(line["usd"] for line in printed["perMonth"])
    assert printed["usdPerMonth"] == pytest.approx(printed["usdPerMillionOrders"] / 1000 + month)


def test_it_shows_a_person_the_lines_the_sum_and_what_was_assumed() -> None:
    printed = run("--steps", "5").stdout

    assert "1,000,000 orders a month of 5 steps, in batches of 10" in printed
    for word in ("DynamoDB writes", "Lambda time", "Alarms", "In all $", "message ms", "Not included"):
        assert word in printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--steps", "31"], "1 to 30 were measured"),
        (["--app", "nowhere:app"], "no application 'nowhere:app'"),
        (["--app", "nowhere:app"], "or give --steps"),
        (["--workflow", "parcels"], "workflow: is 'parcels'; there are "),
        (["--app", "json:app"], "no application 'json:app'"),
        (["--app", "json:loads"], "is function, not an application"),
    ],
)
def test_what_it_cannot_price_is_refused(words: list[str], complaint: str) -> None:
    answer = run(*words)

    assert answer.exit_code == 2
    assert complaint in answer.stderr
