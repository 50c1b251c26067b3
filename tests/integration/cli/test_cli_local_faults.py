"""A person makes the stand-ins of the remote services misbehave, and work again."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import urllib3
from typer.testing import CliRunner, Result

from stepward.cli.local.addresses import addresses_of
from stepward.cli.main import app
from stepward.cli.user_error import UserError
from stepward.local import processes
from stepward.local.cloud import RunningCloud
from stepward.local.server import Server
from stepward.local.services import Fault, FaultKind, Services
from stepward.local.services.calls import ServiceCall
from stepward.project import APP
from tests.shop import app as shop

Type = Callable[[str], Result]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    (tmp_path / "services").mkdir()
    with Services(tmp_path / "services" / "ledger.sqlite") as services:
        yield services


@pytest.fixture
def typed(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Runs `stepward local faults` where these services are the running ones."""
    here = psutil.Process()
    port = urlsplit(services.endpoint).port or 0
    Server(os.getpid(), port, here.create_time()).save(tmp_path / "services" / "process.json")
    monkeypatch.setenv(APP, "tests.shop:app")
    monkeypatch.setattr(processes, "running_cloud", lambda: RunningCloud(tmp_path))
    return lambda words: CliRunner().invoke(app, ["local", "faults", *words.split()])


@pytest.mark.usefixtures("typed")
def test_effects_are_listed_once_with_the_calls_that_came_for_them(services: Services) -> None:
    charge, other = ServiceCall("card", "charge", "book-1/charge", 1), ServiceCall("card", "charge", "book-2/charge", 1)
    undo = ServiceCall("hotel", "free_room", "book-1/hold_room/undo", 2, undo_of="book-1/hold_room")
    for call in (charge, charge, other, ServiceCall("hotel", "hold_room", "book-1/hold_room", 1), undo):
        services.ledger.perform(call)

    listed = CliRunner().invoke(app, ["local", "effects", "book-1"]).stdout.splitlines()
    assert [line.split()[2:] for line in listed[1:]] == [
        ["card", "charge", "book-1/charge", "2"],
        ["hotel", "hold_room", "book-1/hold_room", "1"],
        ["hotel", "free_room", "book-1/hold_room/undo", "1"],
    ]
    found = json.loads(CliRunner().invoke(app, ["local", "effects", "--json"]).stdout)["effects"]
    assert [(each["order"], each["calls"], each["undid"]) for each in found] == [
        ("book-1", 2, None),
        ("book-2", 1, None),
        ("book-1", 1, None),
        ("book-1", 1, True),
    ]
    assert "done nothing for order book-3" in CliRunner().invoke(app, ["local", "effects", "book-3"]).stdout


@pytest.mark.usefixtures("typed")
def test_without_stand_ins_nothing_is_listed(tmp_path: Path) -> None:
    (tmp_path / "services" / "process.json").unlink()
    assert "stepward local up" in CliRunner().invoke(app, ["local", "effects"]).stderr


def test_faults_are_set_listed_and_cleared(typed: Type, services: Services) -> None:
    assert typed("set payments decline --order ord-1 --times 2").exit_code == 0
    assert typed("set shipping slow --times 0 --seconds 5").exit_code == 0
    assert services.script.left == [
        Fault("payments", "ord-1", FaultKind.DECLINE, 2),
        Fault("shipping", "*", FaultKind.SLOW, None, 5),
    ]
    rows = [" ".join(line.split()) for line in typed("list").stdout.splitlines()]
    assert rows[1:] == ["payments decline ord-1 2 60", "shipping slow all always 5"]

    typed("clear payments")
    assert [fault.service for fault in services.script.left] == ["shipping"]
    typed("clear")
    assert "every service works" in typed("list").stdout


def test_a_service_that_no_agent_calls_is_refused_by_name(typed: Type) -> None:
    refused = typed("set payment fail")
    assert (refused.exit_code, "'payment'; choose payments" in refused.stderr) == (1, True)


def test_without_stand_ins_it_says_how_to_start_them(typed: Type, tmp_path: Path) -> None:
    (tmp_path / "services" / "process.json").unlink()
    refused = typed("list")
    assert (refused.exit_code, "stepward local up" in refused.stderr) == (1, True)


def test_a_fault_is_cleared_under_its_own_path_only(services: Services) -> None:
    services.misbehave(Fault("payments", "*", FaultKind.FAIL))
    assert urllib3.request("DELETE", f"{services.endpoint}/payments").status == 404
    assert len(services.script.left) == 1


@pytest.mark.parametrize(("given", "says"), [("paymentz=http://a", "choose payments"), ("payments", "give an address")])
def test_an_address_of_no_service_is_refused_by_name(given: str, says: str) -> None:
    assert addresses_of(shop, ["payments=http://127.0.0.1:1"]) == {"payments": "http://127.0.0.1:1"}
    with pytest.raises(UserError, match=says):
        addresses_of(shop, [given])
