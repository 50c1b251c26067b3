"""An agent's secrets are read once, from Secrets Manager, and a service that refuses one blames no order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import boto3
import pytest
from moto import mock_aws

from orders.fulfilment import API_KEY, charge
from stepward import secrets
from stepward.domain.errors import Misconfigured
from stepward.domain.workflow.agents import Call
from stepward.local.services import Services
from stepward.local.services.request import local_secret
from stepward.secrets import DECLARED, secret
from stepward.service_urls import ADDRESSES
from stepward.testing import known_secrets

CALL = Call(
    order={"orderId": "o-1", "currency": "EUR", "items": [{"sku": "A", "qty": 1, "unitPrice": "1.00"}]},
    results={},
    idempotency_key="o-1/charge",
    fence=1,
    attempt=1,
    remaining=lambda: 5.0,
)


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Secrets Manager, an agent that declares its secret, and a process that has read none."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv(DECLARED, f"{API_KEY},other")
    secrets.client.cache_clear()  # a cold start
    with mock_aws(), known_secrets({}):
        yield boto3.client("secretsmanager")
    secrets.client.cache_clear()  # it belongs to the cloud that is gone


@pytest.fixture
def demanding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    with Services(tmp_path / "ledger.db", secrets={"payments": [API_KEY]}) as services:
        monkeypatch.setenv(ADDRESSES, json.dumps({"payments": services.url("payments")}))
        yield services


def test_a_secret_is_read_once_and_again_when_somebody_asks(manager: Any) -> None:
    """D4: no call on the ordinary path, and a way out when it is rotated."""
    manager.create_secret(Name=API_KEY, SecretString="first")
    assert secret(API_KEY) == "first"
    manager.put_secret_value(SecretId=API_KEY, SecretString="second")
    assert secret(API_KEY) == "first"
    assert secret(API_KEY, again=True) == secret(API_KEY) == "second"


@pytest.mark.parametrize("again", [False, True], ids=["in a new process", "once it was rotated"])
def test_one_thread_reads_a_secret_for_all(monkeypatch: pytest.MonkeyPatch, *, again: bool) -> None:
    """Five requests come at once, and each call to Secrets Manager is billed."""
    reads, together = list[str](), Barrier(5)

    def read(name: str) -> str:
        reads.append(name)
        with suppress(BrokenBarrierError):
            together.wait(timeout=0.2)  # so long, all would have come here
        return "new"

    monkeypatch.setattr(secrets, "_read", read)
    with known_secrets({API_KEY: "old"} if again else {}), ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(secret, API_KEY, again=again) for _ in range(5)]

        assert [each.result() for each in asked] == ["new"] * 5
    assert reads == [API_KEY]


def test_a_secret_that_is_not_declared_or_not_there_is_a_setting_that_is_wrong(manager: Any) -> None:
    """D4: it says what to do, and holds nothing of what is secret."""
    with pytest.raises(Misconfigured, match=r"declare it: Agent\(..., secrets=\('mine',\)\)"):
        secret("mine")
    with pytest.raises(Misconfigured, match="ResourceNotFoundException; create it"):
        secret(API_KEY)
    manager.create_secret(Name="other", SecretBinary=b"bytes")
    with pytest.raises(Misconfigured, match="store a text"):
        secret("other")


def test_a_service_that_does_not_accept_the_secret_blames_no_order_until_it_is_right(
    manager: Any, demanding: Services
) -> None:
    """D4, S20: a rotated secret is read anew, and the next attempt has its effect."""
    manager.create_secret(Name=API_KEY, SecretString="stale")
    for _ in range(2):
        with pytest.raises(Misconfigured, match="does not accept the secret payments/api-key") as refused:
            charge(CALL)
        assert "stale" not in str(refused.value)
    assert demanding.ledger.effects() == []
    manager.put_secret_value(SecretId=API_KEY, SecretString=local_secret(API_KEY))
    with pytest.raises(Misconfigured):
        charge(CALL)
    assert charge(CALL)
    assert len(demanding.ledger.effects()) == 1
