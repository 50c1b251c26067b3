"""`stepward verify` on the stack that an account would get, deployed on this machine."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from rich.console import Console
from typer.testing import CliRunner

from orders.demo.run import deployed
from orders.fulfilment import fulfilment
from stepward.cli.main import app
from stepward.local.access import REGION, access
from stepward.local.secret_store import demanded
from stepward.local.services import Services
from stepward.project import Project

pytestmark = [pytest.mark.cloud, pytest.mark.long]
STACK = "stepward"
EFFECTS = 3 + 4
"""Of an order, and of a return of goods that are as new."""


@dataclass(frozen=True)
class Scene:
    """A deployed stack, and the services in its place."""

    endpoint: str
    services: Services

    def client(self, service: Any) -> Any:
        return boto3.client(service, **access(self.endpoint))

    def ids(self, kind: str) -> list[str]:
        found = self.client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
        return [it["PhysicalResourceId"] for it in found if it["ResourceType"] == f"AWS::{kind}"]

    def verify(self, *options: str) -> tuple[int, Mapping[str, Any], str]:
        """The exit code, whether each check was good, and what was printed."""
        named = ["--stack", STACK, "--endpoint", self.endpoint, "--region", REGION]
        result = CliRunner().invoke(app, ["verify", *named, *options, "--json"])
        found = json.loads(result.stdout)["findings"] if result.stdout else []
        return result.exit_code, {it["check"]: it["good"] for it in found}, result.output

    def orders(self) -> int:
        tables = [name for name in self.ids("DynamoDB::Table") if "Orders" in name or "Tasks" in name]
        rows = [row for name in tables for row in self.client("dynamodb").scan(TableName=name)["Items"]]
        return sum(row["OrderID"]["S"].startswith("canary-") for row in rows)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    secrets, console = demanded(fulfilment.agents), Console(file=io.StringIO())
    with (
        Services(tmp_path / "ledger.sqlite", secrets=secrets) as services,
        deployed(Project(Path(__file__).parents[2]).root, tmp_path, services, console, {}) as (_, cloud),
    ):
        yield Scene(cloud.endpoint, services)


def test_a_sound_stack_is_good_and_each_thing_that_is_broken_is_seen(scene: Scene) -> None:
    """D4: an order of each workflow goes through all of it, and nothing of it is left behind."""
    code, good, text = scene.verify()
    assert (code, set(good.values()), good["canary of fulfilment"]) == (0, {True, None}, True), text
    assert [check for check, seen in good.items() if seen is None] == ["metrics"]
    assert scene.orders() == 0
    assert len(scene.services.ledger.effects()) == EFFECTS

    broken: set[str] = set()
    for check, damage in BREAKS.items():
        damage(scene)
        code, good, text = scene.verify("--no-canaries")
        broken.add(check)
        assert (code, {name for name, seen in good.items() if seen is False}) == (1, broken), text

    code, good, text = scene.verify("--within", "2")  # the orders queue is not taken from
    assert (code, good["canary of fulfilment"]) == (1, False), text

    _point_elsewhere(scene)
    code, good, text = scene.verify()
    assert (code, good) == (1, {})
    assert "nothing was sent" in text
    assert len(scene.services.ledger.effects()) == EFFECTS


def _disable_the_rule(scene: Scene) -> None:
    (rule,) = scene.ids("Events::Rule")
    scene.client("events").disable_rule(Name=rule.rpartition("|")[2])


def _stop_taking_orders(scene: Scene) -> None:
    client = scene.client("lambda")
    for source in client.list_event_source_mappings()["EventSourceMappings"]:
        if "Orders" in source["EventSourceArn"]:
            client.update_event_source_mapping(UUID=source["UUID"], Enabled=False)


def _deny(scene: Scene) -> None:
    denied = {"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [denied]})
    role = next(it for it in scene.ids("IAM::Role") if "Supervisor" in it)
    scene.client("iam").put_role_policy(RoleName=role, PolicyName="no-tables", PolicyDocument=document)


def _raise_an_alarm(scene: Scene) -> None:
    name = scene.ids("CloudWatch::Alarm")[0]
    scene.client("cloudwatch").set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")


def _leave_a_subscription_unconfirmed(scene: Scene) -> None:
    topic = scene.ids("SNS::Topic")[0]
    scene.client("sns").subscribe(TopicArn=topic, Protocol="http", Endpoint="http://127.0.0.1:9/")


def _run_other_code(scene: Scene) -> None:
    name = next(it for it in scene.ids("Lambda::Function") if "upervisor" in it)
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as bundle:
        bundle.writestr("supervisor.py", "handler = lambda *_: None")
    scene.client("lambda").update_function_code(FunctionName=name, ZipFile=packed.getvalue())


def _let_a_queue_take_all(scene: Scene) -> None:
    client = scene.client("lambda")
    source = next(
        it for it in client.list_event_source_mappings()["EventSourceMappings"] if "Responses" in it["EventSourceArn"]
    )
    client.update_event_source_mapping(UUID=source["UUID"], ScalingConfig={"MaximumConcurrency": 1000})


def _point_elsewhere(scene: Scene) -> None:
    name = next(it for it in scene.ids("Lambda::Function") if "payments" in it)
    client = scene.client("lambda")
    variables = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    variables["STEPWARD_SERVICE_URLS"] = '{"payments": "https://payments.example.com"}'
    client.update_function_configuration(FunctionName=name, Environment={"Variables": variables})


BREAKS: Mapping[str, Callable[[Scene], None]] = {
    "schedule": _disable_the_rule,
    "functions": _run_other_code,
    "concurrency": _let_a_queue_take_all,
    "sources": _stop_taking_orders,
    "rights": _deny,
    "alarms": _raise_an_alarm,
    "subscriptions": _leave_a_subscription_unconfirmed,
}
