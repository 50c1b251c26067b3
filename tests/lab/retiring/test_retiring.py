"""An agent and a customer's queue go from a deployed application: refused while work needs them, drained, then gone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import sleep  # noqa: TID251 - the functions under test run in other processes
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from stepward.cli.deploy_check import command
from stepward.cli.main import app
from stepward.local.server import Server
from stepward.local.services import Fault, FaultKind, Services
from stepward.local.services.faults import EVERYONE
from tests.lab.reaper import awaited
from tests.lab.retiring.booking import AGENTS as ALL
from tests.lab.retiring.booking import SOURCE, Booking

pytestmark = [pytest.mark.cloud, pytest.mark.lab]

ORIGINAL = "Step(charge, undo=refund, after=[book_hotel, rent_car], complete_within=minutes(1), on_permanent=UNDO),"
OLD = ORIGINAL.replace("undo=", "threshold=100, undo=")  # however long this test takes
NEXT = "Step(send_itinerary, complete_within=minutes(1)),"
WITHOUT = "Step(send_itinerary, after=[book_hotel, rent_car], complete_within=minutes(1)),"
NEEDED = "3 orders of trip version 1 still need cards.charge, cards.refund"
BURIED = "queue ledgers-acme-dead would leave the stack, with a message in it; keep acme in draining_customers of "
WITHIN_S = 90
AGENTS = tuple(name for name in ALL if name != "cards")


def rewrite(
    booking: Booking, services: Services, *agents: str, draining: str = "", steps: str = "", **customers: Any
) -> None:
    """Version 2 of the workflow with these steps in place of the charge, and the addresses of these agents."""
    text = (SOURCE / "functions" / "booking" / "trip.py").read_text().replace(ORIGINAL, OLD)
    if steps:
        text = text.replace(OLD, "").replace(NEXT, steps).replace("version=1", "version=2")
        text = text.replace("    steps=[", f"    draining=[{draining}],\n    steps=[")
    booking.trip.write_text(text)
    booking.write({name: services.url(name) for name in agents}, breaker_failures=1000, **customers)


def deploy_with_work(booking: Booking, services: Services, trips: Sequence[str]) -> None:
    """The first version, with trips that cannot be charged and a dead letter in the customer's queue."""
    services.misbehave(Fault("cards", EVERYONE, FaultKind.FAIL, times=None))
    rewrite(booking, services, *ALL, ledger_customers=["acme"])
    outputs = booking.deploy()
    booking.bury(outputs, "ledgers-acme")
    booking.send(outputs, *trips)
    assert awaited(lambda: booking.states(outputs) == dict.fromkeys(trips, "Processing"), WITHIN_S, every_s=0.5)


def assert_refused(checked: Result) -> None:
    """By name; the requests that wait may be refused to be deleted as well."""
    assert checked.exit_code == 1
    reason = f"{NEEDED}; keep them in draining=[...] of the workflow, or wait"
    refusals = json.loads(checked.stdout)["refusals"]
    assert {"question": "in-flight", "reason": reason, "allowed": False} in refusals
    assert {each["question"] for each in refusals} == {"in-flight", "queues"}
    assert [each["reason"] for each in refusals if each["reason"].startswith(BURIED)]


def assert_gone(booking: Booking, outputs: Mapping[str, str]) -> None:
    """No queue and no function is left of either."""
    assert set(json.loads(outputs["AgentFunctionNames"])) == set(AGENTS)
    assert set(json.loads(outputs["AgentQueueUrls"])) == set(AGENTS)
    queues = boto3.client("sqs", **booking.access).list_queues(QueueNamePrefix="booking-")["QueueUrls"]
    assert not [url for url in queues if "cards" in url or "acme" in url]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with Services(tmp_path / "ledger.db") as services:
        yield services


def test_an_agent_and_a_customers_queue_go_once_nothing_needs_them(
    cloud: Server, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: refused by name, drained while the work ends, and then taken away."""
    booking, trips = Booking.copied(tmp_path, cloud), ("trip-1", "trip-2", "trip-3")
    deploy_with_work(booking, services, trips)

    rewrite(booking, services, *AGENTS, steps=WITHOUT)
    assert_refused(booking.check("--json"))

    rewrite(booking, services, *ALL, steps=WITHOUT, draining=OLD, draining_customers=["acme"])
    drained = booking.check()
    assert drained.exit_code == 0, drained.output
    assert "Draining agent cards: " in drained.stdout
    assert "3 orders left." in drained.stdout
    assert "Draining ledgers-acme: 1 ledger left." in drained.stdout
    outputs = booking.deploy()
    booking.send(outputs, "trip-4")
    assert awaited(lambda: booking.states(outputs).get("trip-4") == "Processed", WITHIN_S, every_s=0.5)
    assert booking.states(outputs) == {**dict.fromkeys(trips, "Processing"), "trip-4": "Processed"}

    rewrite(booking, services, *AGENTS, steps=WITHOUT)

    def somebody_acts(_: float) -> None:
        services.behave("cards", EVERYONE)
        redrive = ["dead-letters", "redrive", "ledgers-acme", "--stack", "booking", "--endpoint", cloud.endpoint]
        assert CliRunner().invoke(app, redrive).exit_code == 0
        sleep(1)

    monkeypatch.setattr(command, "sleep", somebody_acts)
    waited = booking.check("--drain")
    assert waited.exit_code == 0, waited.output
    assert f"Waiting (in-flight): {NEEDED}" in waited.stderr
    assert f"Waiting (queues): {BURIED}" in waited.stderr
    assert booking.states(outputs) == dict.fromkeys((*trips, "trip-4"), "Processed")
    assert_gone(booking, booking.deploy())
    charged = [effect.key for effect in services.ledger.effects() if effect.key.endswith("/charge")]
    assert sorted(charged) == [f"{trip}/charge" for trip in trips]
