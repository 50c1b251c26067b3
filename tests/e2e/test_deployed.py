"""A return, and then `stepward verify`, on the stack that an account would get, deployed on this machine."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep  # noqa: TID251 -- the functions under test run in other processes
from typing import Any

import boto3
import pytest
from rich.console import Console
from typer.testing import CliRunner

from orders import app as shop
from orders.demo.run import deployed
from orders.demo.stage import Stage
from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.queues import SqsSender
from stepward.cli.main import app
from stepward.domain.messages import OPERATORS, SignalGiven
from stepward.local.access import REGION, access
from stepward.local.secret_store import demanded
from stepward.local.services import Services
from stepward.local.services.ledger import Effect
from stepward.project import Project
from stepward.wire.messages import encode

pytestmark = [pytest.mark.cloud, pytest.mark.long]
ROOT = Project.here().root
STACK = "stepward"
CHECKED_BEFORE = {"@aws-cdk/core:validateAgainstDefaultRules": False}
"""The test of the demonstration deploys the same stack, and CDK checks it there; this takes longer than all else."""
RETURN = "returns~~ret-1001"
STEPS = ["send_label", "pay_back", "close_return"]
CANARIES = 3 + 4
"""The effects of an order, and of a return of goods that are as new."""


@dataclass(frozen=True)
class Scene:
    """A deployed stack, and the services in its place."""

    endpoint: str
    services: Services
    stage: Stage

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


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, console = tmp_path_factory.mktemp("deployed"), Console(quiet=True)
    with (
        Services(folder / "ledger.sqlite", secrets=demanded(shop.agents)) as services,
        deployed(ROOT, folder, services, console, CHECKED_BEFORE) as (stage, cloud),
    ):
        yield Scene(cloud.endpoint, services, stage)


def eventually(look: Callable[[], bool]) -> None:
    give_up_at = monotonic() + 90
    while not look():
        assert monotonic() < give_up_at
        sleep(0.1)


@pytest.fixture(scope="module")
def returned(scene: Scene) -> tuple[Sequence[Effect], datetime]:
    """The effects of a return that goes through the sound stack, and when its days of cooling off are over."""
    stage, samples = scene.stage, ROOT / "events" / "returns"

    def stands(step: str, state: str) -> bool:
        task = stage.tasks().get(RETURN)
        return task is not None and task.steps[step].process_state == state

    with stage.supervised():
        now = datetime.now(UTC)  # noqa: TID251 -- the timer is a real one
        ends = now + timedelta(seconds=4)
        times = {"submittedAt": now.isoformat(), "coolingOffEnds": ends.isoformat()}
        stage.send([json.dumps(json.loads((samples / "return.json").read_text()) | times)])
        eventually(lambda: RETURN in stage.tasks())
        stage.send([(samples / "goods.json").read_text()])
        eventually(lambda: stands("approval", "Processing"))
        approval = SignalGiven(RETURN, "approval", "a-1", {"by": "ann"}, who="ann", door=OPERATORS)
        SqsSender(stage.sqs).send(stage.deployment.scheduler_queue_url, [Outgoing(encode(approval))])
        eventually(lambda: stands("close_return", "Processed"))
    assert stage.newest_rejects() == []
    return scene.services.ledger.effects(), ends


def test_a_return_goes_from_the_door_to_its_end(returned: tuple[Sequence[Effect], datetime]) -> None:
    """W1 to W4: a submitter's signal, an operator's, a timer, a step that is skipped; none of it by hand."""
    effects, ends = returned
    assert [effect.key for effect in effects] == [f"{RETURN}/{step}" for step in STEPS]
    assert effects[1].at >= ends.timestamp() * 1000


def test_a_sound_stack_is_good_and_each_thing_that_is_broken_is_seen(
    scene: Scene, returned: tuple[Sequence[Effect], datetime]
) -> None:
    """D4: an order of each workflow goes through all of it, and nothing of it is left behind."""
    expected = len(returned[0]) + CANARIES
    code, good, text = scene.verify()
    assert (code, set(good.values()), good["canary of fulfilment"]) == (0, {True, None}, True), text
    assert [check for check, seen in good.items() if seen is None] == ["metrics"]
    assert scene.orders() == 0
    assert len(scene.services.ledger.effects()) == expected

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
    assert len(scene.services.ledger.effects()) == expected


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
