"""A deployment's settings are right, or the fault is named before anything is deployed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepward.config import Config
from stepward.domain.convoy.lane import LaneRules
from stepward.domain.errors import Misconfigured
from stepward.domain.timing import Timing
from stepward_cdk.settings.settings import Settings


def test_a_deployment_that_chooses_nothing_gets_the_engines_own_timing() -> None:
    """S12: one place decides."""
    settings = Settings.from_context(dict[str, object]().get)
    assert settings == Settings()
    chosen = Timing(settings.claim_within_ms, settings.skew_margin_ms, settings.outage_after_ms)
    assert chosen == Timing()


def test_the_command_lines_text_means_the_same_as_the_files_values() -> None:
    """C7: `-c shards=8` gives text, cdk.json a number."""
    urls = {"payments": "https://pay.example.com"}
    typed = {"shards": 8, "tracing": True, "complete_within_ms": 3000, "service_urls": urls}
    text = {"shards": "8", "tracing": "true", "complete_within_ms": "3000", "service_urls": json.dumps(urls)}
    assert Settings.from_context(typed.get) == Settings.from_context(text.get)


THIRTEEN = ",".join(f"customer-{number}" for number in range(13))
WRONG: dict[str, list[Any]] = {
    "environment": ["production"],
    "platform": ["azure"],
    "shards": ["many", 0, True, "-1"],
    "tracing": ["yes", 1],
    "batch_size": [11],
    "complete_within_ms": [999],
    "claim_within_ms": [0],
    "supervise_minutes": [0, "0.5"],
    "alert_email": ["operator"],
    "service_urls": ["{", "[]", {"payments": 7}],
    "lease_ms": [999, 120_001],
    "finished_days": [-1, 3651],
    "event_bus": ["", "arn:aws:events:eu-west-1:111122223333:event-bus/orders"],
    "breaker_failures": [0],
    "breaker_open_ms": [300_001],
    "reply_prefixes": [7],
    "region": ["Frankfurt"],
    "sequences": ["none"],
    "gap_ms": [999, 31 * 86_400_000 + 1],
    "idle_ms": [59_999],
    "event_attempts": [0],
    "lane_timeout_s": [4, 61],
    "ledger_timeout_s": [29, 901],
    "ledger_concurrency": [1],
    "ledger_days": [0],
    "ledger_customers": ["acme,", "acme/north", "-acme", "a" * 41, "Müller", THIRTEEN],
    "draining_customers": ["acme/north"],
    "customer_index_since": ["yes", "2026-13-01", "20261129"],
    "draining_shards": [4, 101],
    "lanes_table": ["l"],
    "tasks_table": ["arn:aws:dynamodb:eu-west-1:111122223333:table/tasks"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_by_name(name: str, value: Any) -> None:
    """S12: before anything is deployed."""
    with pytest.raises(Misconfigured, match=name):
        Settings.from_context({name: value}.get)


@pytest.mark.parametrize(
    "url", ["https://pay.example.com/v1", "http://127.0.0.1:8080", "http://localhost", "http://[::1]:9"]
)
def test_a_service_is_called_over_tls_or_on_this_machine(url: str) -> None:
    """S5."""
    assert Settings.from_context({"service_urls": {"payments": url}}.get).service_urls == {"payments": url}


CLEAR_OR_NOWHERE = "http://pay.example.com http://127.0.0.1.example.com http://10.0.0.1 ftp://x pay http://[ https://"


@pytest.mark.parametrize("url", [*CLEAR_OR_NOWHERE.split(), ""])
def test_a_service_in_clear_text_or_nowhere_is_refused(url: str) -> None:
    """S5: an order's data does not cross a network unencrypted."""
    with pytest.raises(Misconfigured, match="payments"):
        Settings(service_urls={"payments": url})


def test_a_deployment_that_chooses_nothing_gets_the_engines_own_rules_for_lanes() -> None:
    """C5, C6: one place decides."""
    assert Config(Settings().convoy.rules).lane_rules == LaneRules()


def test_the_engine_reads_the_rules_that_a_deployment_chooses() -> None:
    """C5, C6."""
    chosen = Settings(sequences="optional", gap_ms=60_000, idle_ms=3_600_000, event_attempts=3)
    expected = LaneRules(sequenced=False, gap_within=60_000, idle_after=3_600_000, attempts=3)
    assert Config(chosen.convoy.rules).lane_rules == expected


def test_customers_with_ledgers_of_their_own_are_named_once_each() -> None:
    """C7."""
    assert Settings.from_context({"ledger_customers": "acme, Acme,acme"}.get).ledger_customers == ("acme", "Acme")
    assert Settings.from_context({"ledger_customers": ""}.get).ledger_customers == ()
    assert len(Settings(ledger_customers=tuple(f"c{number}" for number in range(12))).convoy.customers) == 12


def test_a_customer_either_has_a_queue_or_drains_it() -> None:
    """D2."""
    with pytest.raises(Misconfigured, match="draining_customers: acme is in ledger_customers, too; take it out of one"):
        Settings(ledger_customers=("acme", "bolt"), draining_customers=("acme",))


def test_only_production_is_lasting() -> None:
    """S23."""
    assert Settings(environment="prod", alert_email="none").lasting
    assert not Settings().lasting


def test_a_lease_outlives_no_more_than_two_wake_ups() -> None:
    """S15: a Supervisor that died is replaced within two periods, however long these are."""
    assert Settings(lease_ms=120_000)
    assert Settings(lease_ms=600_000, supervise_minutes=5)


def test_a_list_is_text_with_commas_or_a_list_of_the_file() -> None:
    """C7."""
    typed = Settings.from_context({"region": "eu-west-1", "replica_regions": ["eu-central-1", "us-east-1"]}.get)
    text = Settings.from_context({"region": "eu-west-1", "replica_regions": "eu-central-1, us-east-1"}.get)
    assert typed == text
    assert Settings.from_context({"replica_regions": ""}.get).replica_regions == ()


@pytest.mark.parametrize(
    ("region", "replicas"),
    [("", ("eu-west-1",)), *(("eu-west-1", wrong) for wrong in (("eu-west-1",), ("Ireland",), ("eu-central-1", "")))],
)
def test_replicas_are_in_other_regions_than_the_stacks_named_one(region: str, replicas: tuple[str, ...]) -> None:
    """S23."""
    with pytest.raises(Misconfigured, match="replica_regions"):
        Settings(region=region, replica_regions=replicas)
