import inspect
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from stepward.cli.deployment.options import Target, for_deployment
from stepward.cli.user_error import UserError
from stepward.domain.errors import Transient


def app_that_raises(error: Exception) -> typer.Typer:
    def look(target: Target, order: str) -> None:
        del target, order
        raise error

    app = typer.Typer()
    app.command()(for_deployment(look))
    return app


def test_a_suggested_command_is_for_the_same_deployment_and_can_be_pasted() -> None:
    assert Target().typed("show", "ord-1") == "stepward show ord-1"
    assert Target(local=True).typed("show", "a b;c") == "stepward show 'a b;c' --local"
    elsewhere = Target("shop", endpoint="http://127.0.0.1:4566", region="eu-west-1")
    assert elsewhere.typed("list") == "stepward list --stack shop --endpoint http://127.0.0.1:4566 --region eu-west-1"


def test_the_shared_options_reach_a_command_from_line_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no project names another stack
    seen: list[tuple[Target, str]] = []

    def look(target: Target, order: str) -> None:
        seen.append((target, order))

    app = typer.Typer()
    app.command()(for_deployment(look))
    runner = CliRunner(env={"STEPWARD_STACK": "shop", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"})

    assert runner.invoke(app, ["ord-1"]).exit_code == 0
    assert runner.invoke(app, ["ord-1", "--stack", "b"], env={"STEPWARD_ENDPOINT": "http://127.0.0.1:2"}).exit_code == 0
    assert CliRunner(env={"STEPWARD_LOCAL": "1"}).invoke(app, ["ord-1"]).exit_code == 0
    assert seen == [
        (Target("shop", endpoint="http://127.0.0.1:1"), "ord-1"),
        (Target("b", endpoint="http://127.0.0.1:2"), "ord-1"),
        (Target(local=True), "ord-1"),
    ]
    assert "where" not in inspect.signature(for_deployment(look)).parameters


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UserError("there is no [red]\x1b[2J"), "stepward: there is no [red]\\x1b[2J"),
        (Transient("read task a: ThrottlingException"), "Try again"),
    ],
)
def test_an_expected_error_is_reported_without_a_traceback(error: Exception, message: str) -> None:
    result = CliRunner().invoke(app_that_raises(error), ["ord-1"])

    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unexpected_error_is_not_hidden() -> None:
    result = CliRunner().invoke(app_that_raises(RuntimeError("a bug")), ["ord-1"])

    assert isinstance(result.exception, RuntimeError)
