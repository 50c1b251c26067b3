import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import boto3
import pytest
from typer.testing import CliRunner, Result

from stepward.cli.main import app
from stepward.local.processes import RunningServices
from stepward.local.server import Server
from stepward.project import Project
from tests.integration.cli.conftest import Shop


def typed(*words: str) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which no local cloud is running."""
    (tmp_path / "cdk.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_one_line(result: Result, *parts: str) -> None:
    assert result.exit_code == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    for part in parts:
        assert part in result.stderr


@pytest.mark.cloud
def test_a_missing_stack_says_how_to_name_another(cloud: Server) -> None:
    result = typed("list", "--stack", "nowhere", "--endpoint", cloud.endpoint)

    assert_one_line(result, "no stack nowhere", "--stack")


@pytest.mark.cloud
def test_a_stack_of_something_else_is_recognised(cloud: Server) -> None:
    client = boto3.client("cloudformation", endpoint_url=cloud.endpoint)
    template = '{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"Q": {"Value": "q"}}}'
    client.create_stack(StackName="other", TemplateBody=template)
    client.get_waiter("stack_create_complete").wait(StackName="other", WaiterConfig={"Delay": 1})

    assert_one_line(typed("list", "--stack", "other", "--endpoint", cloud.endpoint), "no output OrdersQueueUrl")


@pytest.mark.parametrize(
    ("missing", "profile", "parts"),
    [
        (["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], "", ["no AWS credentials", "aws configure"]),
        (["AWS_DEFAULT_REGION"], "", ["--region"]),
        ([], "nobody", ["nobody", "AWS_PROFILE"]),
    ],
    ids=["credentials", "region", "profile"],
)
def test_what_is_missing_to_reach_an_account_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, missing: list[str], profile: str, parts: list[str]
) -> None:
    for name in missing:
        monkeypatch.delenv(name)
    if profile:
        monkeypatch.setenv("AWS_PROFILE", profile)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)

    assert_one_line(typed("list"), *parts)


def test_an_endpoint_that_does_not_answer_is_named() -> None:
    assert_one_line(typed("list", "--endpoint", "http://127.0.0.1:9"), "http://127.0.0.1:9 does not answer")
    assert_one_line(typed("list", "--endpoint", "nonsense"), "nonsense cannot be used")


def test_local_without_a_local_cloud_says_how_to_start_one() -> None:
    assert_one_line(typed("list", "--local"), "stepward local up")


def test_local_and_an_endpoint_exclude_each_other() -> None:
    assert typed("list", "--local", "--endpoint", "http://127.0.0.1:9").exit_code == 2


def test_a_file_that_is_not_there_is_a_usage_error() -> None:
    assert typed("send", "nothing.json").exit_code == 2


@pytest.mark.cloud
def test_the_local_cloud_is_used_without_any_account(
    repository: Path, monkeypatch: pytest.MonkeyPatch, cloud: Server, shop: Shop
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    settings = {"AWS_PROFILE": "nobody", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "", "no_proxy": ""}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (repository / ".local").mkdir()
    (repository / ".local" / "cloud.json").write_text(json.dumps(asdict(cloud)))

    result = typed("list", "--local", "--stack", shop.target.stack)

    assert result.exit_code == 0
    assert "has no orders" in result.stdout


@pytest.fixture
def services(tmp_path: Path) -> Iterator[RunningServices]:
    services = RunningServices(tmp_path / "services")
    yield services
    services.down()


def test_the_remote_services_run_until_they_are_stopped(services: RunningServices) -> None:
    server = services.up()
    again = services.up()

    assert again == server
    assert again.is_running

    services.down()

    assert services.server is None
    assert not services.folder.exists()


def test_the_repository_is_found_from_a_folder_below_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "events" / "orders").mkdir(parents=True)
    monkeypatch.chdir(repository / "events" / "orders")

    assert Project.here().root == repository


def test_the_state_of_the_local_cloud_is_shown() -> None:
    assert "No local cloud is running" in typed("local", "status").stdout
    assert '"running": false' in typed("local", "status", "--json").stdout
    assert "No local cloud was running" in typed("local", "down").stdout


def test_the_version_and_the_examples_are_printed() -> None:
    assert typed("--version").stdout.startswith("stepward ")
    of_orders = ("send", "show", "list", "rejects", "resubmit", "undo", "cancel", "pause", "resume", "audit-log")
    for command in (*of_orders, "agents", "dead-letters list", "dead-letters show", "dead-letters redrive"):
        text = typed(*command.split(), "--help").stdout
        assert f"stepward {command}" in text
        assert "JSON:" in text
        assert "--local" in text
