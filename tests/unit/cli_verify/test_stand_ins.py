"""D4: no canary can reach a real service: where that cannot be shown, none is sent."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stepward.cli.verify.checks import room
from stepward.cli.verify.stand_ins import why_not

HERE = {"payments": "http://127.0.0.1:9000/payments"}
REAL = {"payments": "https://payments.example.com"}


def said(addresses: Mapping[str, str], deployed: Mapping[str, str] | None = None, **settings: Any) -> str:
    agent = {"STEPWARD_AGENT": "payments", "STEPWARD_SERVICE_URLS": json.dumps(deployed or addresses)}
    return why_not({"service_urls": addresses, **settings}, [agent])


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_a_stack_that_does_not_say_that_its_services_are_stand_ins_gets_no_canary(environment: str) -> None:
    assert "stand_ins = true" in said(REAL, environment=environment, platform="aws", stand_ins=False)


@pytest.mark.parametrize("mark", [None, False, "true", 1])
def test_only_a_plain_mark_counts(mark: object) -> None:
    assert said(REAL, stand_ins=mark)
    assert said(REAL, stand_ins=True) == ""


def test_on_this_machine_the_addresses_are_enough() -> None:
    assert said(HERE, platform="local") == ""


@pytest.mark.parametrize(("addresses", "platform"), [(REAL, "local"), (HERE | REAL | {"b": REAL["payments"]}, "local")])
def test_a_local_stack_that_calls_elsewhere_gets_no_canary(addresses: Mapping[str, str], platform: str) -> None:
    assert said(addresses, platform=platform)


def test_on_an_account_an_address_of_its_own_machine_shows_nothing() -> None:
    assert said(HERE, platform="aws")


def test_a_stack_whose_agents_call_other_services_than_it_says_gets_no_canary() -> None:
    assert "other services" in said(HERE, REAL, platform="local")
    assert "other services" in said(HERE, REAL, stand_ins=True)


def test_a_stack_without_agents_shows_nothing() -> None:
    assert why_not({"stand_ins": True, "service_urls": {}}, [])


def test_the_account_must_have_room_for_all_that_the_stack_may_run_at_once() -> None:
    """One more for the Supervisor; a source without a limit may take all there is."""
    sources = [{"ScalingConfig": {"MaximumConcurrency": 50}}, {"ScalingConfig": {"MaximumConcurrency": 9}}]
    assert (room(60, sources).good, room(59, sources).good) == (True, False)
    assert room(1_000, [{}]).good is False
