"""An agent is taken away from a deployed application: refused while orders need it, drained, then gone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep  # noqa: TID251 - the functions under test run in other processes
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from stepward.cli.deploy_check import command
from stepward.cli.main import app
from stepward.local.access import Access
from stepward.local.deploy import deploy
from stepward.local.server import Server
from stepward.local.services import Fault, FaultKind, Services
from stepward.local.services.faults import EVERYONE
from stepward.local.synth import synthesise
from tests.lab.chaos.reaper import awaited

pytestmark = [pytest.mark.cloud, pytest.mark.lab]

ROOT = Path(__file__).parents[3]
ORIGINAL = "Step(charge, undo=refund, after=[book_hotel, rent_car], complete_within=minutes(1), on_permanent=UNDO),"
OLD = ORIGINAL.replace("undo=", "threshold=100, undo=")  # however long this test takes
NEXT = "Step(send_itinerary, complete_within=minutes(1)),"
WITHOUT = "Step(send_itinerary, after=[book_hotel, rent_car], complete_within=minutes(1)),"
NEEDED = "3 orders of trip version 1 still need cards.charge, cards.refund"
WITHIN_S = 90
AGENTS = ("flights", "hotels", "cars", "mail")


@dataclass(frozen=True)
class Booking:
    """The booking application in a folder of its own, where the test changes it, and its stack on the local cloud."""

    root: Path
    cloud: Server
    services: Services
    access: Access

    def write(self, *agents: str, draining: str = "", steps: str = "") -> None:
        """Version 2 of the workflow with these steps in place of the charge, and the addresses of these agents."""
        text = (ROOT / "tests/lab/booking/functions/booking/trip.py").read_text().replace(ORIGINAL, OLD)
        if steps:
            text = text.replace(OLD, "").replace(NEXT, steps).replace("version=1", "version=2")
            text = text.replace("    steps=[", f"    draining=[{draining}],\n    steps=[")
        (self.root / "functions" / "booking" / "trip.py").write_text(text)
        file = self.root / "infra" / "environments" / "dev.toml"
        addresses = "".join(f'{name} = "{self.services.url(name)}"\n' for name in agents)
        settings = file.read_text().partition("breaker_failures")[0].partition("[service_urls]")[0]
        file.write_text(f"{settings}breaker_failures = 1000\n\n[service_urls]\n{addresses}")

    def deploy(self) -> Mapping[str, str]:
        out = self.root / "cdk.out"
        synthesise(self.root, out, {"env": "dev", "platform": "local"})
        return deploy(out, self.cloud.endpoint)

    def check(self, *options: str) -> Result:
        words = ["deploy-check", "--env", "dev", "-c", "platform=local", "--endpoint", self.cloud.endpoint, *options]
        return CliRunner().invoke(app, words)

    def send(self, outputs: Mapping[str, str], *trips: str) -> None:
        trip = json.loads((self.root / "trip.json").read_text())
        sqs = boto3.client("sqs", **self.access)
        for order_id in trips:
            sqs.send_message(QueueUrl=outputs["OrdersQueueUrl"], MessageBody=json.dumps(trip | {"orderId": order_id}))

    def states(self, outputs: Mapping[str, str]) -> Mapping[str, str]:
        table: Any = boto3.resource("dynamodb", **self.access).Table(outputs["TasksTableName"])
        return {item["OrderID"]: item["ProcessState"] for item in table.scan()["Items"] if "Steps" in item}


@pytest.fixture
def booking(cloud: Server, cloud_access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Booking]:
    root = tmp_path / "booking"
    shutil.copytree(ROOT / "tests" / "lab" / "booking", root)
    (root / "requirements").symlink_to(ROOT / "requirements")
    monkeypatch.setenv("PATH", f"{ROOT / '.venv-tools' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(root)
    with Services(tmp_path / "ledger.db") as services:
        yield Booking(root, cloud, services, cloud_access)


def assert_refused(checked: Result) -> None:
    """By name; the requests that wait may be refused to be deleted as well."""
    assert checked.exit_code == 1
    reason = f"{NEEDED}; keep them in draining=[...] of the workflow, or wait"
    refusals = json.loads(checked.stdout)["refusals"]
    assert {"question": "in-flight", "reason": reason, "allowed": False} in refusals
    assert {each["question"] for each in refusals} <= {"in-flight", "queues"}


def test_an_agent_goes_once_no_order_needs_it(booking: Booking, monkeypatch: pytest.MonkeyPatch) -> None:
    """D1: refused by name, drained while its orders end, and then taken away."""
    trips = ("trip-1", "trip-2", "trip-3")
    booking.services.misbehave(Fault("cards", EVERYONE, FaultKind.FAIL, times=None))
    booking.write(*AGENTS, "cards")
    outputs = booking.deploy()
    booking.send(outputs, *trips)
    assert awaited(lambda: booking.states(outputs) == dict.fromkeys(trips, "Processing"), WITHIN_S, every_s=0.5)

    booking.write(*AGENTS, steps=WITHOUT)
    assert_refused(booking.check("--json"))

    booking.write(*AGENTS, "cards", steps=WITHOUT, draining=OLD)
    drained = booking.check()
    assert drained.exit_code == 0, drained.output
    assert "Draining agent cards: " in drained.stdout
    assert "3 orders left." in drained.stdout
    outputs = booking.deploy()
    booking.send(outputs, "trip-4")
    assert awaited(lambda: booking.states(outputs).get("trip-4") == "Processed", WITHIN_S, every_s=0.5)
    assert booking.states(outputs) == {**dict.fromkeys(trips, "Processing"), "trip-4": "Processed"}

    booking.write(*AGENTS, steps=WITHOUT)

    def cards_recover(_: float) -> None:
        booking.services.behave("cards", EVERYONE)
        sleep(1)

    monkeypatch.setattr(command, "sleep", cards_recover)
    waited = booking.check("--drain")
    assert waited.exit_code == 0, waited.output
    assert f"Waiting (in-flight): {NEEDED}" in waited.stderr
    assert booking.states(outputs) == dict.fromkeys((*trips, "trip-4"), "Processed")
    outputs = booking.deploy()
    assert set(json.loads(outputs["AgentFunctionNames"])) == set(AGENTS)
    assert set(json.loads(outputs["AgentQueueUrls"])) == set(AGENTS)
    queues = boto3.client("sqs", **booking.access).list_queues().get("QueueUrls", [])
    assert not [url for url in queues if "cards" in url]
    charged = [effect.key for effect in booking.services.ledger.effects() if effect.key.endswith("/charge")]
    assert sorted(charged) == [f"{trip}/charge" for trip in trips]
