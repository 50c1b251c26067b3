"""Two deployments in one account and region: the same order fails in both, and nobody mistakes one for the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest

from orders.demo.inbox import Inbox
from stepward.cli.deploy_check.facts import AccountFacts
from stepward.cli.deployment.aws import find_account
from stepward.cli.deployment.options import Target
from stepward.local.access import REGION, Access
from stepward.local.deploy import deploy
from stepward.local.server import Server
from stepward.local.synth import synthesise
from stepward.stack_outputs import Deployment
from tests.integration.handlers.deployment import order_body
from tests.lab.reaper import awaited

pytestmark = [pytest.mark.cloud, pytest.mark.lab]

ROOT = Path(__file__).parents[3]
STACKS = {"dev": "shop", "prod": "shop-prod"}
WITHIN_S = 60


@dataclass(frozen=True)
class Shop:
    """One deployment, and what its operators receive."""

    stack: str
    outputs: Mapping[str, str]
    inbox: Inbox

    @property
    def mail(self) -> Mapping[str, str]:
        """The first mail that operators receive."""
        assert awaited(self._received, WITHIN_S, every_s=0.5)
        mail: Mapping[str, str] = json.loads(self.inbox.received[0])
        return mail

    def _received(self) -> bool:
        self.inbox.receive()
        return bool(self.inbox.received)


@pytest.fixture(scope="module")
def shops(cloud: Server, cloud_access: Access, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Shop]:
    """Both deployments, each with an order 1042 that its service refuses: nothing but the local cloud is there."""
    refusing = dict.fromkeys(("inventory", "payments", "shipping"), cloud.endpoint)
    found = {}
    for env, stack in STACKS.items():
        out = tmp_path_factory.mktemp(stack) / "cdk.out"
        synthesise(ROOT, out, {"env": env, "platform": "local", "stack": stack, "service_urls": refusing})
        outputs = deploy(out, cloud.endpoint)
        inbox = Inbox(cloud.endpoint, f"{stack}-inbox")
        inbox.subscribe(outputs["AlertsTopicArn"])
        found[stack] = Shop(stack, outputs, inbox)
    for shop in found.values():
        sqs = boto3.client("sqs", **cloud_access)
        sqs.send_message(QueueUrl=shop.outputs["OrdersQueueUrl"], MessageBody=order_body("1042"))
    return found


@pytest.mark.parametrize("stack", STACKS.values())
def test_a_mail_and_its_commands_name_their_own_deployment(shops: Mapping[str, Shop], stack: str) -> None:
    """D3."""
    mail = shops[stack].mail
    assert mail["Subject"] == f"{stack}: step reserve failed, order 1042"
    commands = [line for line in mail["Message"].splitlines() if line.startswith("  stepward ")]
    assert len(commands) == 2
    assert {line.partition(" --stack ")[2] for line in commands} == {f"{stack} --region {REGION}"}


def test_each_deployment_logs_under_its_own_name(shops: Mapping[str, Shop], cloud_access: Access) -> None:
    """D3: log lines and metrics of the function that alerts."""
    logs = boto3.client("logs", **cloud_access)
    stacks = boto3.client("cloudformation", **cloud_access)
    for stack, shop in shops.items():
        assert shop.mail
        resources = stacks.list_stack_resources(StackName=stack)["StackResourceSummaries"]
        groups = [it["PhysicalResourceId"] for it in resources if it["ResourceType"] == "AWS::Logs::LogGroup"]
        lines = [line for group in groups for line in logs.filter_log_events(logGroupName=group)["events"]]
        written = [json.loads(line["message"]) for line in lines if line["message"].startswith("{")]
        assert {line["service"] for line in written if "_aws" in line} == {stack}
        assert {line["stack"] for line in written if "task" in line} == {stack}


def test_no_resource_belongs_to_both(shops: Mapping[str, Shop], cloud_access: Access) -> None:
    """D3: queues, tables, functions, roles, logs, alarms, dashboards."""
    stacks = boto3.client("cloudformation", **cloud_access)
    owned = [
        {
            (it["ResourceType"], it["PhysicalResourceId"])
            for page in stacks.get_paginator("list_stack_resources").paginate(StackName=stack)
            for it in page["StackResourceSummaries"]
        }
        for stack in shops
    ]
    assert min(map(len, owned)) > 100
    assert owned[0] & owned[1] == set()


def test_what_the_check_asks_is_answered_for_its_own_stack(
    cloud: Server, shops: Mapping[str, Shop], cloud_access: Access
) -> None:
    """D2: buses, shards and queues of the one, though the other holds work."""
    sqs = boto3.client("sqs", **cloud_access)
    dead = Deployment.from_outputs(shops["shop"].outputs).dead_letters["agent-payments"].dead
    sqs.send_message(QueueUrl=dead, MessageBody="{}")
    for stack, shop in shops.items():
        assert shop.mail
        target = Target(stack, endpoint=cloud.endpoint, region=REGION)
        account = find_account(target)
        facts = AccountFacts(account, target)
        assert (facts.has_bus("default"), facts.has_bus("orders")) == (True, False)
        template = account.template(stack)
        assert template is not None
        assert template["Metadata"]["Stepward"]["stack"] == stack
        queues = [name for name, it in template["Resources"].items() if it["Type"] == "AWS::SQS::Queue"]
        waiting = {facts.name_of(queue): facts.in_queue(queue) for queue in queues if "Dead" in queue}
        assert waiting["agent-payments-dead"] == (1 if stack == "shop" else 0)
        assert sum(facts.in_shard(shard) for shard in range(4)) == 0, "an order in Error waits for a person"
    assert find_account(target).template("nobody") is None
