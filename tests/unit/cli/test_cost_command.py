import json

import pytest
from typer.testing import CliRunner, Result

from stepward.cli.main import app
from stepward.cli.terminal import OUT


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["cost", *words])


def test_it_prices_the_workflow_that_the_module_holds() -> None:
    answer = run("--json")

    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["steps"] == 3


def quantities(*words: str) -> dict[str, float]:
    lines = json.loads(run("--json", "--batch", "1", *words).stdout)["perOrder"]
    return {line["name"]: line["quantity"] for line in lines}


def test_the_waits_and_conditions_of_a_workflow_are_priced() -> None:
    """W2 to W4, W7: a return has two signals, a timer, steps with a condition and a call with a check."""
    printed = json.loads(run("--json", "--workflow", "returns", "--skip", "approval").stdout)
    whole, short = quantities("--workflow", "returns"), quantities("--workflow", "returns", "--skip", "approval")

    assert printed["kinds"] == {"call": 3, "signal": 1, "skipped": 1, "timer": 1, "checked call": 1}
    assert (whole["DynamoDB writes"], whole["SQS requests"], whole["Lambda requests"]) == (33, 42, 13)
    assert (short["DynamoDB writes"], short["SQS requests"], short["Lambda requests"]) == (28, 39, 12)
    assert short.keys() == quantities("--steps", "4").keys()


@pytest.mark.parametrize(
    ("words", "writes"),
    [
        pytest.param([], 10, id="three items and references"),
        pytest.param(["--items", "300"], 36, id="a large order, written in a transaction"),
        pytest.param(["--result-bytes", "3000"], 19, id="three results in rows of their own"),
    ],
)
def test_large_orders_and_results_cost_more(words: list[str], writes: int) -> None:
    assert quantities("--steps", "3", *words)["DynamoDB writes"] == writes


def test_it_says_which_conditions_it_takes_to_hold_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OUT, "width", 80)
    printed = run("--workflow", "returns").stdout

    assert "Steps by kind: call 3, signal 2, timer 1, checked call 1\n" in printed
    assert "Conditions are taken to hold, of restock, approval; --skip NAME" in printed
    assert "Conditions" not in run().stdout
    tables = [line for line in printed.splitlines() if not line.endswith((".", "tiers"))]
    assert max(map(len, tables)) <= 80


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

    assert "1,000,000 orders a month of 5 steps, us-east-1" in printed
    for word in ("DynamoDB writes", "Lambda time", "Alarms", "In all $", "message ms", "Not included"):
        assert word in printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--steps", "101"], "equal to 100"),
        (["--workflow", "returns", "--skip", "goods"], "--skip goods: it has no condition that could fail"),
        (["--steps", "1", "--result-bytes", "400000"], "an order ends in Error, at reserve: "),
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
