"""Each refusal of a deployment, asked of a stack with work in it: a sentence that helps, and nothing has changed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest

from stepward.cli.deploy_check.questions import QUESTIONS
from stepward.local.access import REGION
from stepward.local.server import Server
from stepward.project import APP
from tests.lab.reaper import awaited
from tests.lab.retiring.booking import AGENTS, Booking

pytestmark = [pytest.mark.cloud, pytest.mark.lab]

CHANGES = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text())["change"]
STACK, FOREIGN = "trips-prod", "foreign"
ADDRESSES = dict.fromkeys(AGENTS, "http://127.0.0.1:9")  # nobody listens there
SETTINGS: Mapping[str, Any] = {
    "stack": STACK,
    "environment": "prod",
    "region": REGION,
    "alert_email": "none",
    "complete_within_ms": 1_200_000,  # the first step of each trip is tried for as long as this test takes
    "rejects_table": "rejects-again",
    "ledger_customers": ["acme"],
}
TRIPS = ("trip-1", "trip-2", "trip-3", "trip-4")  # three of them in the second shard
NEXT = '''"""What the next deployment may make of the application."""

from dataclasses import replace

from booking.trip import trip
from stepward import App

uncharged = replace(trip, version=2, steps=[step for step in trip.steps if step.name != "charge"])
apart = App("booking", workflows=[replace(uncharged, per_customer=True)])
charging = [step for step in trip.steps if step.name == "charge"]
drained = App("booking", workflows=[replace(uncharged, draining=charging)])
'''
RESOURCES = {"Topic": {"Type": "AWS::SNS::Topic"}, "Queue": {"Type": "AWS::SQS::Queue"}}
WITHIN_S = 60


@pytest.fixture(scope="module")
def booking(cloud: Server, tmp_path_factory: pytest.TempPathFactory) -> Booking:
    """In production: trips that wait for their first step, and dead letters; beside it a stack of somebody else."""
    booking = Booking.copied(tmp_path_factory.mktemp("refusals"), cloud, "prod")
    booking.trip.with_name("next.py").write_text(NEXT)
    booking.write(ADDRESSES, **SETTINGS)
    outputs = booking.deploy()
    booking.send(outputs, *TRIPS)
    assert awaited(lambda: booking.states(outputs) == dict.fromkeys(TRIPS, "Processing"), WITHIN_S, every_s=0.5)
    for queue in ("agent-cards", "ledgers-acme"):
        booking.bury(outputs, queue)
    stacks = boto3.client("cloudformation", **booking.access)
    stacks.create_stack(StackName=FOREIGN, TemplateBody=json.dumps({"Resources": RESOURCES}))
    theirs = stacks.describe_stack_resource(StackName=FOREIGN, LogicalResourceId="Queue")["StackResourceDetail"]
    boto3.client("sqs", **booking.access).send_message(QueueUrl=theirs["PhysicalResourceId"], MessageBody="{}")
    return booking


@pytest.fixture(autouse=True)
def _nothing_changes(booking: Booking) -> Iterator[None]:
    before = _deployed(booking)
    yield
    assert _deployed(booking) == before


def _deployed(booking: Booking) -> list[Any]:
    """What a deployment would change or delete."""
    stacks = boto3.client("cloudformation", **booking.access)
    templates = [stacks.get_template(StackName=name)["TemplateBody"] for name in (STACK, FOREIGN)]
    queues = boto3.client("sqs", **booking.access).list_queues()["QueueUrls"]
    return [*templates, sorted(queues), boto3.client("dynamodb", **booking.access).list_tables()["TableNames"]]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change["name"]))
def test_what_a_change_would_lose_is_said_before_it_is_made(
    booking: Booking, change: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1, D2: read aloud."""
    addresses = {name: url for name, url in ADDRESSES.items() if name != change.get("without")}
    booking.write(addresses, **{**SETTINGS, **change.get("settings", {})})
    monkeypatch.setenv(APP, change.get("app", "booking:app"))
    checked = booking.check("--json")
    if error := change.get("error"):
        assert (checked.exit_code, checked.stdout) == (1, "")
        assert f"The stack cannot be synthesised: {error}\n" in checked.stderr
        return
    assert checked.exit_code == (1 if change["said"] else 0)
    found, target = json.loads(checked.stdout), f" --endpoint {booking.cloud.endpoint} --region {REGION}"
    said = [f"{each['question']}: {each['reason'].replace(target, '')}" for each in found["refusals"]]
    left = [[each["name"], each["orders"], each["messages"]] for each in found["draining"]]
    assert (said, left) == (change["said"], change.get("draining", []))


def test_no_question_is_left_out() -> None:
    """D2."""
    assert {line.partition(":")[0] for change in CHANGES for line in change.get("said", ())} == set(QUESTIONS)
